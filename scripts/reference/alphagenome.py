"""AlphaGenome written out from its paper and published code, in plain PyTorch, for any widths: what tests believe.

Widths follow from the shapes of the tensors, whose names are those of the PyTorch port (alphagenome-pytorch 0.3);
scripts/compare/alphagenome.py compares this program with that port.
"""

import math

import torch
import torch.nn.functional as F


def gelu17(x):
    return x * torch.sigmoid(1.702 * x)


def rope(x, max_position):
    """x [..., n, heads, d]: pairs (2i, 2i + 1) turned by pos / (i + max_position^(i / (d/2 - 1)))."""
    n, d = x.shape[-3], x.shape[-1]
    i = torch.arange(d // 2, dtype=x.dtype)
    inverse = 1 / (i + torch.tensor(float(max_position - d // 2 + 1), dtype=x.dtype) ** (i / (d // 2 - 1)))
    angle = torch.arange(n, dtype=x.dtype)[:, None] * inverse
    return turn(x, angle[:, None, :])


def turn(x, angle):
    c, s = angle.cos(), angle.sin()
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * c - odd * s, odd * c + even * s), -1).flatten(-2)


def select_sites(probabilities, n_max=512, threshold=0.1):
    """Bases of donor +, acceptor +, donor -, acceptor -, each in ascending order."""
    sites = []
    for of_class in probabilities.T[:4]:
        best = torch.sort(of_class, descending=True, stable=True)[1][:n_max]
        sites.append(torch.sort(best[of_class[best] >= threshold])[0])
    return sites


class AlphaGenome:
    def __init__(self, weights, pair_gelu="tanh", dtype=torch.float64):
        self.w = {name: tensor.to(dtype) for name, tensor in weights.items() if tensor.is_floating_point()}
        self.dtype = dtype
        self.pair_gelu = pair_gelu
        self.n_down = 1 + max(int(n.split(".")[2]) for n in weights if n.startswith("encoder.down_blocks."))
        self.n_blocks = 1 + max(int(n.split(".")[2]) for n in weights if n.startswith("tower.blocks."))

    # parts
    def rbn(self, x, name):
        w = self.w
        return x * (w[name + ".weight"] * torch.rsqrt(w[name + ".running_var"] + 1e-5)) + w[name + ".bias"]

    def ln(self, x, name):
        return F.layer_norm(x, x.shape[-1:], self.w[name + ".weight"], self.w[name + ".bias"], 1e-5)

    def rms(self, x, name):
        scale = torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)
        return x * scale * self.w[name + ".weight"] + self.w[name + ".bias"]

    def embedded(self, name, organism):
        return self.w[name + ".weight"][organism] if name + ".weight" in self.w else 0

    def linear(self, x, name):
        weight = self.w[name + ".weight"]
        if weight.dim() == 3:
            weight = weight[..., 0]
        return F.linear(x, weight, self.w.get(name + ".bias"))

    def conv(self, x, name):
        w = self.w[name + ".weight"]
        if name + ".scale" in self.w:
            fan_in = w.shape[1] * w.shape[2]
            mean = w.mean((1, 2), keepdim=True)
            variance = w.var((1, 2), unbiased=False, keepdim=True)
            w = (w - mean) * self.w[name + ".scale"] * torch.rsqrt((fan_in * variance).clamp(min=1e-4))
        return F.conv1d(x.T[None], w, self.w[name + ".bias"], padding="same")[0].T

    def conv_block(self, x, name):
        x = gelu17(self.rbn(x, name + ".norm"))
        return self.conv(x, name + ".conv")

    def gelu_pair(self, x):
        return F.gelu(x, approximate="tanh" if self.pair_gelu == "tanh" else "none")

    @staticmethod
    def pool2(x):
        return torch.maximum(x[0::2], x[1::2])

    # model
    def encode(self, onehot):
        x = self.conv(onehot, "encoder.dna_embedder.conv1")
        x = x + self.conv_block(x, "encoder.dna_embedder.block")
        skips = [x]
        x = self.pool2(x)
        for b in range(self.n_down):
            name = f"encoder.down_blocks.{b}."
            y = self.conv_block(x, name + "block1")
            y = y + F.pad(x, (0, y.shape[1] - x.shape[1]))
            y = y + self.conv_block(y, name + "block2")
            skips.append(y)
            x = self.pool2(y)
        return x, skips

    def pair_update(self, x, pair, name):
        n = x.shape[0] // 16
        s = name + ".seq2pair"
        z = self.rms(x.reshape(n, 16, -1).mean(1), s + ".norm_seq2pair")
        heads, d = self.w[s + ".q_r_bias"].shape[2:]
        q = self.linear(z, s + ".linear_q").view(n, heads, d)
        k = self.linear(z, s + ".linear_k").view(n, heads, d)
        distance = torch.arange(-n, n, dtype=self.dtype)
        n_widths = self.w[s + ".linear_pos_features.weight"].shape[1] // 2
        j = torch.arange(n_widths, dtype=self.dtype)
        widths = j + torch.tensor(float(8192 // 16 - n_widths + 1), dtype=self.dtype) ** (j / n_widths)
        f = (widths > distance.abs()[:, None]).to(self.dtype)
        features = torch.cat((f, distance.sign()[:, None] * f), 1)
        e = self.linear(features, s + ".linear_pos_features").view(2 * n, heads, d)
        at = torch.arange(n)[None] - torch.arange(n)[:, None] + n
        by_query = torch.einsum("ihd,ehd->hie", q + self.w[s + ".q_r_bias"][0, 0], e)
        by_key = torch.einsum("jhd,ehd->hje", k + self.w[s + ".k_r_bias"][0, 0], e)
        rel_q = torch.gather(by_query, 2, at[None].expand(heads, n, n))
        rel_k = torch.gather(by_key, 2, at[None].expand(heads, n, n)).transpose(1, 2)
        a = torch.einsum("ihd,jhd->hij", q, k) + 0.5 * (rel_q + rel_k)
        y = self.linear(a.permute(1, 2, 0), s + ".linear_pair")
        g = self.gelu_pair(z)
        y = y + self.linear(g, s + ".linear_y_q")[:, None] + self.linear(g, s + ".linear_y_k")[None]
        pair = y if pair is None else pair + y
        r = name + ".row_attn"
        h = self.rms(pair, r + ".norm")
        q, k, v = (self.linear(h, r + ".linear_" + c) for c in "qkv")
        p = torch.softmax(torch.einsum("pic,pjc->pij", q, k) / math.sqrt(q.shape[-1]), -1)
        pair = pair + torch.einsum("pij,pjc->pic", p, v)
        m = name + ".pair_mlp"
        return pair + self.linear(F.relu(self.linear(self.rms(pair, m + ".norm"), m + ".linear1")), m + ".linear2")

    def attention(self, x, pair, block):
        b = block + ".attn_bias"
        bias = self.linear(self.gelu_pair(self.rbn(pair, b + ".norm")), b + ".proj").permute(2, 0, 1)
        bias = bias.repeat_interleave(16, 1).repeat_interleave(16, 2)
        m = block + ".mha"
        h = self.rbn(x, m + ".norm")
        heads = bias.shape[0]
        q = self.ln(self.linear(h, m + ".q_proj").view(len(x), heads, -1), m + ".norm_q")
        k = self.ln(self.linear(h, m + ".k_proj"), m + ".norm_k")[:, None]
        v = self.ln(self.linear(h, m + ".v_proj"), m + ".norm_v")
        q, k = rope(q, 8192), rope(k, 8192)[:, 0]
        logits = torch.einsum("ihd,jd->hij", q, k) / math.sqrt(q.shape[-1]) + bias
        p = torch.softmax(5 * torch.tanh(logits / 5), -1)
        y = torch.einsum("hij,jd->ihd", p, v).flatten(1)
        return self.rbn(self.linear(y, m + ".linear_embedding"), m + ".final_norm")

    def mlp(self, x, name):
        h = F.relu(self.linear(self.rbn(x, name + ".norm"), name + ".fc1"))
        return self.rbn(self.linear(h, name + ".fc2"), name + ".final_norm")

    def decode(self, x, skips):
        for i, skip in enumerate(reversed(skips)):
            name = f"decoder.up_blocks.{i}."
            o = self.conv_block(x, name + "conv_in") + x[:, : skip.shape[1]]
            o = o.repeat_interleave(2, 0) * self.w[name + "residual_scale"]
            o = o + self.conv_block_1(skip, name + "pointwise")
            x = o + self.conv_block(o, name + "conv_out")
        return x

    def conv_block_1(self, x, name):
        return self.linear(gelu17(self.rbn(x, name + ".norm")), name + ".conv")

    def junction_angles(self, positions, half):
        i = torch.arange(half, dtype=self.dtype)
        denominator = i + torch.tensor(float(2 ** 20 - half + 1), dtype=self.dtype) ** (i / (half - 1))
        return positions.to(self.dtype)[:, None] / denominator

    def junctions(self, e1, probabilities, organism):
        """Counts [donors, acceptors, 2 x tissues], zeros where a strand has fewer, and sites [4, n], -1 behind them."""
        w, s = self.w, "splice_sites_junction_head."
        sites = select_sites(probabilities)
        z = F.linear(e1, w[s + "conv.weight"][organism], w[s + "conv.bias"][organism])
        turned = []
        for name, at in zip(("pos_donor", "pos_acceptor", "neg_donor", "neg_acceptor"), sites):
            scale, offset = w[s + "rope_params." + name][organism]
            angle = self.junction_angles(at, z.shape[1] // 2)
            turned.append(turn(z[at][:, None] * scale + offset, angle[:, None, :]))
        n_donors, n_acceptors = max(len(sites[0]), len(sites[2])), max(len(sites[1]), len(sites[3]))
        counts = []
        for donors, acceptors in (turned[:2], turned[2:]):
            strand = F.softplus(torch.einsum("dtc,atc->dat", donors, acceptors))
            counts.append(F.pad(strand, (0, 0, 0, n_acceptors - strand.shape[1], 0, n_donors - strand.shape[0])))
        positions = torch.full((4, max(n_donors, n_acceptors)), -1)
        for row, at in zip(positions, sites):
            row[: len(at)] = at
        return torch.cat(counts, -1), positions

    def run(self, onehot, organism):
        """Every part by name, for a sequence [S, 4] of ones and zeros."""
        out = {}
        x, skips = self.encode(onehot.to(self.dtype))
        out["trunk"] = x
        # A model without organisms has heads of one.
        x = x + self.embedded("organism_embed", organism)
        pair = None
        for i in range(self.n_blocks):
            block = f"tower.blocks.{i}"
            if i % 2 == 0:
                pair = self.pair_update(x, pair, block + ".pair_update")
            x = x + self.attention(x, pair, block)
            x = x + self.mlp(x, block + ".mlp")
        out["tower"] = x
        out["pair"] = pair
        decoded = self.decode(x, skips)
        out["decoded"] = decoded
        w = self.w
        e128 = gelu17(self.rbn(self.linear(x, "embedder_128bp.project_in"), "embedder_128bp.norm")
                      + self.embedded("embedder_128bp.organism_embed", organism))
        skip = self.linear(e128, "embedder_1bp.project_skip").repeat_interleave(len(decoded) // len(x), 0)
        e1 = gelu17(self.rbn(self.linear(decoded, "embedder_1bp.project_in") + skip, "embedder_1bp.norm")
                    + self.embedded("embedder_1bp.organism_embed", organism))
        pair_e = gelu17(self.rms((pair + pair.transpose(0, 1)) / 2, "embedder_pair.norm")
                        + self.embedded("embedder_pair.organism_embed", organism))
        out["embedding/128"], out["embedding/1"], out["embedding/pair"] = e128, e1, pair_e
        coarse = len(decoded) // len(x)  # bases; 128 of the published model
        for name in sorted({n.split(".")[1] for n in w if n.startswith("heads.")}):
            for resolution in (1, 128):
                head = f"heads.{name}."
                if head + f"convs.{resolution}.weight" not in w:
                    continue
                e = e1 if resolution == 1 else e128
                u = F.softplus(F.linear(e, w[head + f"convs.{resolution}.weight"][organism],
                                        w[head + f"convs.{resolution}.bias"][organism]))
                u = u * F.softplus(w[head + f"residual_scales.{resolution}"][organism])
                u = torch.where(u > 10, (u + 10).square() / 40, u)
                if name == "rna_seq":
                    u = u ** (1 / 0.75)
                mean = w[head + "track_means"][organism] if head + "track_means" in w else 1
                out[f"{name}/{resolution}"] = u * mean * (1 if resolution == 1 else coarse)
        if "contact_maps_head.linear.weight" in w:
            out["contact_maps"] = (pair_e @ w["contact_maps_head.linear.weight"][organism]
                                   + w["contact_maps_head.linear.bias"][organism])
        s = "splice_sites_classification_head.conv."
        if s + "weight" in w:
            probabilities = torch.softmax(F.linear(e1, w[s + "weight"][organism], w[s + "bias"][organism]), -1)
            out["splice_sites"] = probabilities
        s = "splice_sites_usage_head.conv."
        if s + "weight" in w:
            out["splice_site_usage"] = torch.sigmoid(F.linear(e1, w[s + "weight"][organism], w[s + "bias"][organism]))
        if "splice_sites_junction_head.conv.weight" in w and "splice_sites" in out:
            out["splice_junctions"], out["splice_junctions/positions"] = self.junctions(e1, out["splice_sites"], organism)
        return out
