// Draws the charts of the page: each canvas names the data that it shows.
'use strict';
(function () {
  const dark = window.matchMedia('(prefers-color-scheme: dark)').matches;
  const ink = dark ? '#9fb0c0' : '#5b6b7b';
  // Colours of Okabe and Ito, which colour-blind readers can tell apart.
  const colours = {A: '#0072b2', T: '#d55e00', C: '#009e73', G: dark ? '#f0e442' : '#a07800', N: '#999999',
    GC: '#cc79a7', mean: dark ? '#ffffff' : '#000000', percent: '#0072b2'};
  Chart.defaults.color = ink;
  Chart.defaults.animation = false;
  for (const canvas of document.querySelectorAll('canvas[data-chart]')) {
    const chart = JSON.parse(document.getElementById(canvas.dataset.chart).textContent);
    new Chart(canvas, {
      type: chart.type,
      data: {
        labels: chart.x,
        datasets: chart.series.map((s) => ({label: s.label, data: s.y, borderColor: colours[s.name],
          backgroundColor: colours[s.name], borderWidth: chart.type === 'bar' ? 0 : 1.5, pointRadius: 0,
          barPercentage: 1, categoryPercentage: 1}))
      },
      options: {
        maintainAspectRatio: false,
        interaction: {mode: 'index', intersect: false},
        scales: {
          x: {title: {display: true, text: chart.xTitle}, ticks: {maxTicksLimit: 12}, grid: {display: false}},
          y: {title: {display: true, text: chart.yTitle}, beginAtZero: true}
        },
        plugins: {legend: {display: chart.series.length > 1, labels: {boxWidth: 14}}}
      }
    });
  }
})();
