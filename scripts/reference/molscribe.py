"""MolScribe in PyTorch, written from its description, and the way from a picture to its graph.

Network(config, tensors) holds the tensors under the original's names; predict(picture) gives tokens, their logarithms,
the margins between the first and the second logit, atoms and bonds. predict_batch(pictures) does so for several at once;
each keeps the positional encoding that it has alone. prepare(rgb, size) is the
original's preprocessing with OpenCV. In double precision with .double(). Needs torch, numpy and opencv-python-headless.
"""
import cv2
import numpy as np
import torch
import torch.nn.functional as F

PAD, START, STOP, UNKNOWN = 0, 1, 2, 3
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
DEFAULTS = {"input_size": 384, "coord_bins": 64, "dec_num_layers": 6, "dec_hidden_size": 256, "dec_attn_heads": 8,
            "swin_embed_dim": 128, "swin_window": 12, "swin_depths": [2, 2, 18, 2], "swin_heads": [4, 8, 16, 32],
            "max_length": 480}


def prepare(rgb, size):
    """[size, size] grey levels of a picture [h, w, 3]."""
    ink = (rgb != 255).any(axis=2)
    if ink.any():
        rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
        rgb = rgb[rows[0]:rows[-1] + 1, columns[0]:columns[-1] + 1]
    rgb = cv2.copyMakeBorder(rgb, 5, 5, 5, 5, cv2.BORDER_CONSTANT, value=(255, 255, 255))
    if rgb.shape[:2] != (size, size):
        rgb = cv2.resize(rgb, (size, size), interpolation=cv2.INTER_LINEAR)
    return cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)


def read_picture(path, size):
    return prepare(cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB), size)


def normalised(gray):
    """[1, 3, size, size]"""
    planes = np.repeat(gray[None], 3, axis=0).astype(np.float32)
    mean = np.array(MEAN, dtype=np.float32)[:, None, None] * 255
    factor = np.reciprocal(np.array(DEVIATION, dtype=np.float32)[:, None, None] * 255)
    return torch.from_numpy((planes - mean) * factor)[None]


class Vocabulary:
    def __init__(self, numbers, bins):
        self.texts = [text for text, _ in sorted(numbers.items(), key=lambda item: item[1])]
        self.n, self.bins = len(self.texts), bins

    def is_x(self, i):
        return self.n <= i < self.n + self.bins

    def is_y(self, i):
        return i >= self.n + self.bins

    def is_symbol(self, i):
        return i == UNKNOWN or 5 <= i < self.n

    def begins_atom(self, i):
        if not self.is_symbol(i):
            return False
        text = self.texts[i]
        return text.isalpha() or text.startswith("[") or text in ("*", "<unk>")

    def place(self, i):
        return (i - self.n - (self.bins if self.is_y(i) else 0)) / (self.bins - 1)

    def may_follow(self, before, step):
        """Mask over all tokens."""
        allowed = torch.ones(self.n + 2 * self.bins, dtype=torch.bool)
        if step == 0:
            allowed[STOP] = False
        elif self.is_x(before):
            allowed[:self.n + self.bins] = False
        elif self.is_y(before):
            allowed[self.n:] = False
        return allowed

    def atoms(self, tokens):
        """(symbol, x, y, place of the hidden state, first token, end of the symbol) of each."""
        found, i = [], 0
        while i < len(tokens) and tokens[i] not in (STOP, PAD):
            if not self.begins_atom(tokens[i]):
                i += 1
                continue
            end = i + 1
            text = self.texts[tokens[i]]
            if text == "[":
                while end < len(tokens) and self.is_symbol(tokens[end]):
                    end += 1
                    if self.texts[tokens[end - 1]] == "]":
                        break
            elif end < len(tokens) and self.is_symbol(tokens[end]) and text + self.texts[tokens[end]] in ("Cl", "Br"):
                end += 1
            if end + 2 < len(tokens) and self.is_x(tokens[end]) and self.is_y(tokens[end + 1]):
                symbol = "".join(self.texts[t] for t in tokens[i:end])
                found.append((symbol, self.place(tokens[end]), self.place(tokens[end + 1]), end + 2, end))
                end += 2
            i = end
        return found


class Network:
    def __init__(self, config, tensors, vocabulary):
        self.config = {**DEFAULTS, **config}
        self.tensors = tensors
        self.vocabulary = Vocabulary(vocabulary, self.config["coord_bins"])

    def double(self):
        self.tensors = {name: x.double() for name, x in self.tensors.items()}
        return self

    def linear(self, name, x):
        return F.linear(x, self.tensors[name + ".weight"], self.tensors.get(name + ".bias"))

    def norm(self, name, x, eps):
        return F.layer_norm(x, x.shape[-1:], self.tensors[name + ".weight"], self.tensors[name + ".bias"], eps)

    # Encoder

    def window_bias(self, name, heads):
        w = self.config["swin_window"]
        place = torch.stack(torch.meshgrid(torch.arange(w), torch.arange(w), indexing="ij")).flatten(1)
        apart = place[:, :, None] - place[:, None, :] + w - 1
        rows = apart[0] * (2 * w - 1) + apart[1]
        return self.tensors[name][rows.flatten()].view(w * w, w * w, heads).permute(2, 0, 1)

    def shift_mask(self, resolution):
        w = self.config["swin_window"]
        labels = torch.zeros(resolution, dtype=torch.long)
        labels[resolution - w:] = 1
        labels[resolution - w // 2:] = 2
        grid = labels[:, None] * 3 + labels[None, :]
        n = resolution // w
        windows = grid.view(n, w, n, w).permute(0, 2, 1, 3).reshape(n * n, w * w)
        return (windows[:, :, None] != windows[:, None, :]).to(torch.float64) * -100

    def block(self, name, x, resolution, heads, shifted):
        """x [B, resolution^2, c]"""
        w, shift = self.config["swin_window"], self.config["swin_window"] // 2
        n, c = resolution // w, x.shape[-1]
        y = self.norm(name + "norm1", x, 1e-5).view(-1, resolution, resolution, c)
        if shifted:
            y = torch.roll(y, (-shift, -shift), (1, 2))
        y = y.view(-1, n, w, n, w, c).transpose(2, 3).reshape(-1, w * w, c)
        q, k, v = self.linear(name + "attn.qkv", y).view(-1, w * w, 3, heads, c // heads).permute(2, 0, 3, 1, 4)
        logits = (q * (c // heads) ** -0.5) @ k.transpose(-2, -1)
        logits = logits + self.window_bias(name + "attn.relative_position_bias_table", heads)
        if shifted:
            mask = self.shift_mask(resolution)[:, None].to(logits)
            logits = (logits.view(-1, n * n, *logits.shape[1:]) + mask).view_as(logits)
        y = (logits.softmax(-1) @ v).transpose(1, 2).reshape(-1, w * w, c)
        y = self.linear(name + "attn.proj", y).view(-1, n, n, w, w, c).transpose(2, 3)
        y = y.reshape(-1, resolution, resolution, c)
        if shifted:
            y = torch.roll(y, (shift, shift), (1, 2))
        x = x + y.reshape(x.shape)
        y = F.gelu(self.linear(name + "mlp.fc1", self.norm(name + "norm2", x, 1e-5)))
        return x + self.linear(name + "mlp.fc2", y)

    def encode(self, gray):
        """[n_memory, width]"""
        return self.encode_batch([gray])[0]

    def encode_batch(self, grays):
        """[B, n_memory, width]"""
        root, config = "encoder.transformer.", self.config
        proj = root + "patch_embed.proj"
        x = torch.cat([normalised(gray) for gray in grays]).to(self.tensors[proj + ".weight"])
        x = F.conv2d(x, self.tensors[proj + ".weight"], self.tensors[proj + ".bias"], stride=4)
        resolution = x.shape[-1]
        x = self.norm(root + "patch_embed.norm", x.flatten(2).transpose(1, 2), 1e-5)
        for s, depth in enumerate(config["swin_depths"]):
            for b in range(depth):
                x = self.block(f"{root}layers.{s}.blocks.{b}.", x, resolution, config["swin_heads"][s], b % 2 == 1)
            if s + 1 < len(config["swin_depths"]):
                y = x.view(len(grays), resolution, resolution, -1)
                y = torch.cat([y[:, 0::2, 0::2], y[:, 1::2, 0::2], y[:, 0::2, 1::2], y[:, 1::2, 1::2]], -1)
                resolution //= 2
                name = f"{root}layers.{s}.downsample."
                y = self.norm(name + "norm", y.reshape(len(grays), resolution * resolution, -1), 1e-5)
                x = self.linear(name + "reduction", y)
        return self.norm(root + "norm", x, 1e-5)

    # Decoder

    def heads(self, x):
        return x.unflatten(-1, (self.config["dec_attn_heads"], -1)).transpose(1, 2)

    def attend(self, name, q, k, v):
        """q [B, 1, d], k and v [B, n, d]"""
        scores = (self.heads(q) / np.sqrt(q.shape[-1] // self.config["dec_attn_heads"])) @ self.heads(k).transpose(2, 3)
        mixed = (scores.softmax(-1) @ self.heads(v)).transpose(1, 2).reshape(q.shape)
        return self.linear(name + "final_linear", mixed)

    def decode(self, encoded):
        """Tokens, their logarithms of probabilities, margins, hidden states."""
        return self.decode_batch(encoded[None])[0]

    def decode_batch(self, encoded):
        """decode() of each row; a row that is at its end leaves the batch."""
        root, config, vocabulary = "decoder.decoder.chartok_coords.", self.config, self.vocabulary
        memory = self.linear(root + "enc_trans_layer.0", encoded)
        table = self.tensors[root + "embeddings.make_embedding.emb_luts.0.weight"]
        d, n_layers = table.shape[1], config["dec_num_layers"]
        place0 = (torch.arange(d) % 2).to(table)
        names = [f"{root}decoder.transformer_layers.{i}." for i in range(n_layers)]
        crossed = [[self.linear(f"{name}context_attn.linear_{part}", memory) for part in ("keys", "values")] for name in names]
        caches = [[table.new_empty(len(encoded), 0, d) for _ in range(2)] for _ in names]
        found = [([], [], [], []) for _ in encoded]
        rows = list(range(len(encoded)))
        while rows:
            step = len(found[rows[0]][0])
            before = [found[row][0][-1] if step else START for row in rows]
            x = (table[before] * d ** 0.5 + place0)[:, None]
            for i, name in enumerate(names):
                y = self.norm(name + "layer_norm_1", x, 1e-6)
                own = name + "self_attn."
                caches[i] = [torch.cat([cache, self.linear(own + part, y)], 1)
                             for cache, part in zip(caches[i], ("linear_keys", "linear_values"))]
                x = x + self.attend(own, self.linear(own + "linear_query", y), *caches[i])
                y = self.norm(name + "layer_norm_2", x, 1e-6)
                other = name + "context_attn."
                x = x + self.attend(other, self.linear(other + "linear_query", y), *crossed[i])
                y = self.norm(name + "feed_forward.layer_norm", x, 1e-6)
                y = F.gelu(self.linear(name + "feed_forward.w_1", y))
                x = x + self.linear(name + "feed_forward.w_2", y)
            hidden = self.norm(root + "decoder.layer_norm", x, 1e-6)[:, 0]
            log_p = self.linear(root + "output_layer", hidden).log_softmax(-1)
            allowed = torch.stack([vocabulary.may_follow(token, step) for token in before])
            log_p = log_p.masked_fill(~allowed.to(log_p.device), -torch.inf)
            first = log_p.topk(2)
            values, tokens = first.values.tolist(), log_p.argmax(-1).tolist()
            for row, token, (best, second), state in zip(rows, tokens, values, hidden):
                for part, value in zip(found[row], (token, best, best - second, state)):
                    part.append(value)
            going = [i for i, token in enumerate(tokens) if token != STOP and step + 1 < config["max_length"]]
            if len(going) < len(rows):
                rows = [rows[i] for i in going]
                caches, crossed = ([[part[going] for part in pair] for pair in pairs] for pairs in (caches, crossed))
        return [(tokens, logarithms, margins, torch.stack(states)) for tokens, logarithms, margins, states in found]

    def bonds(self, states):
        """Probabilities of each kind of bond, [n, n, 7]."""
        n = states.shape[0]
        pairs = torch.cat([states[:, None].expand(n, n, -1), states[None].expand(n, n, -1)], -1)
        y = F.gelu(self.linear("decoder.decoder.edges.mlp.0", pairs))
        return self.linear("decoder.decoder.edges.mlp.2", y).softmax(-1)

    def predict(self, gray):
        return self.predict_batch([gray])[0]

    @torch.no_grad()
    def predict_batch(self, grays):
        return [self.graph(*found) for found in self.decode_batch(self.encode_batch(grays))]

    def graph(self, tokens, logarithms, margins, states):
        atoms = self.vocabulary.atoms(tokens)
        result = {"tokens": tokens, "logarithms": logarithms, "margins": margins,
                  "atoms": [atom[:3] for atom in atoms], "bonds": [], "pair_margin": None, "pair_margins": []}
        confidence = np.exp(np.mean(logarithms))
        if atoms:
            p = self.bonds(states[[atom[3] for atom in atoms]]).double().cpu().numpy()
            both = p.copy()
            both[:, :, :5] = (p[:, :, :5] + p[:, :, :5].transpose(1, 0, 2)) / 2
            both[:, :, 5] = (p[:, :, 5] + p[:, :, 6].T) / 2
            both[:, :, 6] = (p[:, :, 6] + p[:, :, 5].T) / 2
            for i in range(len(atoms)):
                both[i, i] = p[i, i]
            kinds = both.argmax(-1)
            ordered = np.sort(both, axis=-1)
            off = ~np.eye(len(atoms), dtype=bool)
            result["pair_margins"] = (ordered[..., -1] - ordered[..., -2]).tolist()
            if off.any():
                result["pair_margin"] = float(np.array(result["pair_margins"])[off].min())
            result["bonds"] = [[i, j, int(kinds[i, j])] for i in range(len(atoms)) for j in range(i + 1, len(atoms))
                               if kinds[i, j]]
            confidence *= np.sqrt(both.max(-1).prod())
        result["confidence"] = float(confidence)
        return result
