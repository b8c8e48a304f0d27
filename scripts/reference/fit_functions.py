#!/usr/bin/env python3
"""Fits and checks the polynomials of lib/ops/cpu/math-inl.hpp and log_exp-inl.hpp; needs numpy.

usage: scripts/reference/fit_functions.py

Prints the coefficients, constant first, and the largest error of their evaluation in fp32.
"""

import math

import numpy
from numpy.polynomial import chebyshev

LIMIT = 3.8  # beyond it erf is 1 to within 1e-7
LOG2 = math.log(2)


def nodes(n):
    return numpy.cos(numpy.pi * (numpy.arange(n) + 0.5) / n)


def evaluate(coefficients, x):
    y = numpy.full_like(x, coefficients[-1])
    for c in coefficients[-2::-1]:
        y = (y * x + c).astype(numpy.float32)
    return y


def show(name, coefficients, error):
    print(f"{name}: {', '.join(f'{c:.9g}f' for c in coefficients)}\n  error {error:.2g}")


def fit_erf(degree=14):
    u = nodes(4000)
    z = LIMIT * numpy.sqrt((u + 1) / 2)
    values = numpy.array([math.erf(v) / v if v > 1e-9 else 2 / math.sqrt(math.pi) for v in z])
    coefficients = chebyshev.cheb2poly(chebyshev.chebfit(u, values, degree)).astype(numpy.float32)
    z = numpy.linspace(-6, 6, 100001).astype(numpy.float32)
    inside = numpy.clip(z, -LIMIT, LIMIT).astype(numpy.float32)
    u = (inside * inside * numpy.float32(2 / LIMIT**2) - numpy.float32(1)).astype(numpy.float32)
    right = numpy.array([math.erf(float(v)) for v in z])
    show("erf(z) / z in 2 (z / 3.8)^2 - 1", coefficients,
         numpy.abs(evaluate(coefficients, u) * inside - right).max())


def fit_exp(degree=6):
    x = nodes(2000) * LOG2 / 2
    series = numpy.polynomial.Chebyshev.fit(x, numpy.exp(x), degree, domain=[-LOG2 / 2, LOG2 / 2])
    coefficients = series.convert(kind=numpy.polynomial.Polynomial).coef.astype(numpy.float32)
    x = numpy.linspace(-LOG2 / 2, LOG2 / 2, 100001).astype(numpy.float32)
    right = numpy.exp(x.astype(float))
    show("exp(x) for |x| <= ln 2 / 2", coefficients, numpy.abs(evaluate(coefficients, x) / right - 1).max())


def fit_exp2(degree=6):
    x = nodes(2000) / 2
    series = numpy.polynomial.Chebyshev.fit(x, numpy.exp2(x), degree, domain=[-0.5, 0.5])
    coefficients = series.convert(kind=numpy.polynomial.Polynomial).coef.astype(numpy.float32)
    x = numpy.linspace(-0.5, 0.5, 100001).astype(numpy.float32)
    right = numpy.exp2(x.astype(float))
    show("2^x for |x| <= 1 / 2", coefficients, numpy.abs(evaluate(coefficients, x) / right - 1).max())


def fit_log1p(degree=8):
    u = nodes(4000)
    t = (u + 1) / 2
    coefficients = chebyshev.cheb2poly(chebyshev.chebfit(u, numpy.log1p(t) / t, degree)).astype(numpy.float32)
    t = numpy.linspace(1e-6, 1, 100001).astype(numpy.float32)
    error = evaluate(coefficients, (t + t - 1).astype(numpy.float32)) * t / numpy.log1p(t.astype(float)) - 1
    show("log(1 + t) / t in 2 t - 1", coefficients, numpy.abs(error).max())


def fit_log(degree=7):
    low, high = math.sqrt(0.5) - 1, math.sqrt(2) - 1
    f = low + (nodes(4000) + 1) / 2 * (high - low)
    values = (numpy.log1p(f) - f + f * f / 2) / f**3
    series = numpy.polynomial.Chebyshev.fit(f, values, degree, domain=[low, high])
    coefficients = series.convert(kind=numpy.polynomial.Polynomial).coef.astype(numpy.float32)
    f = numpy.linspace(low, high, 100001).astype(numpy.float32)
    f = f[numpy.abs(f) > 1e-6]
    square = f * f
    log = f + (evaluate(coefficients, f) * f * square - numpy.float32(0.5) * square)
    show("(log(1 + f) - f + f^2 / 2) / f^3 for 1 + f of sqrt 1/2 to sqrt 2", coefficients,
         numpy.abs(log / numpy.log1p(f.astype(float)) - 1).max())


def fit_tanh(degree=5):
    limit = 0.625**2
    z = (nodes(4000) + 1) / 2 * limit
    x = numpy.sqrt(z)
    series = numpy.polynomial.Chebyshev.fit(z, numpy.tanh(x) / x, degree, domain=[0, limit])
    coefficients = series.convert(kind=numpy.polynomial.Polynomial).coef.astype(numpy.float32)
    x = numpy.linspace(1e-6, 0.625, 100001).astype(numpy.float32)
    error = evaluate(coefficients, x * x) * x / numpy.tanh(x.astype(float)) - 1
    show("tanh(x) / x in x^2, for |x| <= 0.625", coefficients, numpy.abs(error).max())


if __name__ == "__main__":
    fit_erf()
    fit_exp()
    fit_exp2()
    fit_log1p()
    fit_log()
    fit_tanh()
