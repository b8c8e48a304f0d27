"""The original ProteinMPNN, run on given random numbers. Imported by the scripts beside it.

A clone of github.com/dauparas/ProteinMPNN is imported as it is; only its draw of a letter is replaced by the
one that takes a given uniform number: the first letter at which the running sum of probabilities passes it.
"""

import contextlib
import sys

import numpy
import torch

LETTERS = "ACDEFGHIKLMNPQRSTVWYX"


@contextlib.contextmanager
def double_precision():
    """What the original makes meanwhile has 64 bits, and so have its own casts to float."""
    cast, torch.Tensor.float = torch.Tensor.float, torch.Tensor.double
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)
        torch.Tensor.float = cast


class Original:
    def __init__(self, folder, checkpoint, ca_only=False, device="cpu", dtype=torch.float32):
        sys.path.insert(0, str(folder))
        import protein_mpnn_utils
        self.utils = protein_mpnn_utils
        self.ca_only, self.device, self.dtype = ca_only, device, dtype
        self.model = protein_mpnn_utils.ProteinMPNN(
            ca_only=ca_only, num_letters=21, node_features=128, edge_features=128, hidden_dim=128,
            num_encoder_layers=3, num_decoder_layers=3, augment_eps=0.0, k_neighbors=checkpoint["num_edges"])
        self.model.load_state_dict(checkpoint["model_state_dict"])
        self.model.eval().to(device, dtype)

    def featurize(self, path, designed=None, fixed_positions=None, omit=None, tied=None, bias_by_res=None,
                  pssm=None):
        """A dictionary of what the functions of the model take, for one structure."""
        protein = self.utils.parse_PDB(str(path), ca_only=self.ca_only)[0]
        chains = sorted(k[-1] for k in protein if k.startswith("seq_chain_"))
        designed = list(designed or chains)
        chain_id = {protein["name"]: (designed, [c for c in chains if c not in designed])}
        found = self.utils.tied_featurize([protein], self.device, chain_id, fixed_positions, omit, tied, pssm,
                                          bias_by_res, ca_only=self.ca_only)
        keys = ("X", "S", "mask", "lengths", "chain_M", "chain_encoding_all", "letters", "visible", "masked",
                "masked_lengths", "chain_M_pos", "omit_AA_mask", "residue_idx", "dihedral", "tied_pos", "pssm_coef",
                "pssm_bias", "pssm_log_odds", "bias_by_res", "tied_beta")
        found = {k: v.to(self.dtype) if torch.is_tensor(v) and v.is_floating_point() else v
                 for k, v in zip(keys, found)}
        return found | {"name": protein["name"], "tied_given": tied is not None}

    def free(self, f):
        return f["chain_M"] * f["chain_M_pos"] * f["mask"]

    def log_probs(self, f, letters, randn, order=None):
        randn = randn.to(self.device, self.dtype)
        with torch.no_grad():
            return self.model(f["X"], letters, f["mask"], f["chain_M"] * f["chain_M_pos"], f["residue_idx"],
                              f["chain_encoding_all"], randn, use_input_decoding_order=order is not None,
                              decoding_order=order)

    def scores(self, f, letters, log_probs):
        return (float(self.utils._scores(letters, log_probs, self.free(f))[0]),
                float(self.utils._scores(letters, log_probs, f["mask"])[0]))

    def sample(self, f, randn, uniforms, temperature, omit="X", bias=None):
        """Letters, log-probabilities for the score, probabilities, of one sample."""
        randn = randn.to(self.device, self.dtype)
        order = torch.argsort((self.free(f) + 0.0001) * torch.abs(randn))[0].tolist()
        mask = f["mask"][0]
        if f["tied_given"]:
            groups, done = [], set()
            for t in order:
                if t not in done:
                    group = next((g for g in f["tied_pos"][0] if t in g), [t])
                    groups.append(group)
                    done.update(group)
            positions = [g[-1] for g in groups if all(mask[t] > 0 for t in g)]
        else:
            positions = [t for t in order if mask[t] > 0]
        draws = iter([float(uniforms[t]) for t in positions])

        def draw(probabilities, _):
            running = torch.cumsum(probabilities.double(), -1)
            return (running > next(draws)).double().argmax(-1, keepdim=True)

        omit_np = numpy.array([a in omit for a in LETTERS]).astype(numpy.float32)
        bias_np = numpy.array([(bias or {}).get(a, 0.0) for a in LETTERS])
        arguments = dict(mask=f["mask"], temperature=temperature, omit_AAs_np=omit_np, bias_AAs_np=bias_np,
                         chain_M_pos=f["chain_M_pos"], omit_AA_mask=f["omit_AA_mask"], pssm_coef=f["pssm_coef"],
                         pssm_bias=f["pssm_bias"], pssm_multi=0.0, pssm_log_odds_flag=False,
                         pssm_log_odds_mask=(f["pssm_log_odds"] > 0.0).float(), pssm_bias_flag=False,
                         bias_by_res=f["bias_by_res"])
        run = self.model.sample
        if f["tied_given"]:
            run = self.model.tied_sample
            arguments |= dict(tied_pos=f["tied_pos"][0], tied_beta=f["tied_beta"])
        multinomial, torch.multinomial = torch.multinomial, draw
        try:
            with torch.no_grad():
                out = run(f["X"], randn, f["S"], f["chain_M"], f["chain_encoding_all"], f["residue_idx"], **arguments)
        finally:
            torch.multinomial = multinomial
        self.last_order = out["decoding_order"]
        log_probs = self.log_probs(f, out["S"], randn, self.last_order)
        return out["S"], log_probs, out["probs"]

    def draw(self, f, n, temperature=0.1):
        """n samples in one batch by the original's own random numbers, for times."""
        def rows(x):
            return x.expand((n,) + x.shape[1:]) if torch.is_tensor(x) else x

        zeros = numpy.zeros(len(LETTERS))
        with torch.no_grad():
            return self.model.sample(
                rows(f["X"]), torch.randn((n, f["X"].shape[1]), device=self.device), rows(f["S"]), rows(f["chain_M"]),
                rows(f["chain_encoding_all"]), rows(f["residue_idx"]), mask=rows(f["mask"]), temperature=temperature,
                omit_AAs_np=(zeros + [a == "X" for a in LETTERS]).astype(numpy.float32), bias_AAs_np=zeros,
                chain_M_pos=rows(f["chain_M_pos"]), omit_AA_mask=rows(f["omit_AA_mask"]), pssm_coef=rows(f["pssm_coef"]),
                pssm_bias=rows(f["pssm_bias"]), pssm_multi=0.0, pssm_log_odds_flag=False,
                pssm_log_odds_mask=(rows(f["pssm_log_odds"]) > 0.0).float(), pssm_bias_flag=False,
                bias_by_res=rows(f["bias_by_res"]))

    def encode(self, f):
        """Neighbours, edge features, and residues and edges after the encoder."""
        model = self.model
        with torch.no_grad():
            features, neighbours = model.features(f["X"], f["mask"], f["residue_idx"], f["chain_encoding_all"])
            h = torch.zeros(features.shape[:2] + (128,), device=features.device, dtype=features.dtype)
            edges = model.W_e(features)
            both = self.utils.gather_nodes(f["mask"].unsqueeze(-1), neighbours).squeeze(-1)
            both = f["mask"].unsqueeze(-1) * both
            for layer in model.encoder_layers:
                h, edges = layer(h, edges, neighbours, f["mask"], both)
        return neighbours[0], features[0], h[0], edges[0]

    def text(self, f, letters):
        """Designed chains joined by '/'."""
        text, begin, chains = self.utils._S_to_seq(letters[0], f["chain_M"][0]), 0, []
        for length in f["masked_lengths"][0]:
            chains.append(text[begin:begin + length])
            begin += length
        return "/".join(chains)
