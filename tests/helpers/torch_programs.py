"""Networks of the tests of programs: the same computation in PyTorch and on ``acl.nn``."""

import functools
import math

import numpy
import torch

import acl

F = torch.nn.functional


class Ops:
    """The functions of ``acl.nn`` on one stream."""

    def __init__(self, stream):
        self._stream = stream

    def __getattr__(self, name):
        return functools.partial(getattr(acl.nn, name), stream=self._stream)


def device(tensor):
    """Return a copy of a tensor in device memory."""
    return acl.DeviceArray.from_numpy(tensor.detach().contiguous().numpy())


def close(array, expected, error=1e-4):
    """Compare a result with the tensor of PyTorch, relative to the largest number."""
    found, expected = array.to_numpy().astype("f8"), expected.detach().double().numpy()
    assert found.shape == expected.shape
    assert numpy.abs(found - expected).max() <= error * max(1.0, numpy.abs(expected).max())


class ResNet18:
    """The network of that name for images of 3 channels, without the first pool's padding to multiples of 32."""

    WIDTHS, CLASSES = (64, 128, 256, 512), 10

    def __init__(self, generator):
        self.weights, self.generator = {}, generator
        self._layer("stem", 3, 64, 7)
        before = 64
        for stage, width in enumerate(self.WIDTHS):
            for block in range(2):
                name = f"{stage}.{block}"
                self._layer(f"{name}.one", before, width, 3)
                self._layer(f"{name}.two", width, width, 3)
                if before != width:
                    self._layer(f"{name}.short", before, width, 1)
                before = width
        self.weights["last.weight"] = self._random(self.CLASSES, before) / math.sqrt(before)
        self.weights["last.bias"] = self._random(self.CLASSES)

    def _random(self, *shape):
        return torch.randn(shape, generator=self.generator)

    def _layer(self, name, before, after, size):
        scale = math.sqrt(2 / (before * size * size))
        self.weights[f"{name}.weight"] = self._random(after, before, size, size) * scale
        for part in ("gamma", "var"):
            self.weights[f"{name}.{part}"] = self._random(after).abs() * 0.2 + 0.9
        for part in ("beta", "mean"):
            self.weights[f"{name}.{part}"] = self._random(after) * 0.1

    def by_torch(self, x):
        weights = self.weights

        def layer(name, x, step):
            weight = weights[f"{name}.weight"]
            x = F.conv2d(x, weight, stride=step, padding=weight.shape[2] // 2)
            return F.batch_norm(x, *(weights[f"{name}.{part}"] for part in ("mean", "var", "gamma", "beta")))

        x = F.max_pool2d(F.relu(layer("stem", x, 2)), 3, 2, 1)
        for name, step, short in self._blocks():
            shortcut = layer(f"{name}.short", x, step) if short else x
            x = F.relu(layer(f"{name}.two", F.relu(layer(f"{name}.one", x, step)), 1) + shortcut)
        return F.linear(F.adaptive_avg_pool2d(x, 1).flatten(1), weights["last.weight"], weights["last.bias"])

    def on_device(self):
        """Return the network as a function of an array and a stream."""
        weights = {name: device(value) for name, value in self.weights.items()}

        def forward(x, stream):
            ops = Ops(stream)

            def layer(name, x, step):
                weight = weights[f"{name}.weight"]
                pad = weight.shape[2] // 2
                x = ops.convolution(x, weight, None, [step, step], [pad, pad], [1, 1], False, [0, 0], 1)
                parts = [weights[f"{name}.{part}"] for part in ("gamma", "beta", "mean", "var")]
                return ops.batch_norm(x, *parts, False, 0.1)

            x = ops.relu(layer("stem", x, 2))
            x = ops.max_pool2d_with_indices(x, [3, 3], [2, 2], [1, 1], [1, 1], False)[0]
            for name, step, short in self._blocks():
                shortcut = layer(f"{name}.short", x, step) if short else x
                inner = ops.relu(layer(f"{name}.one", x, step))
                x = ops.relu(ops.add(layer(f"{name}.two", inner, 1), shortcut))
            pooled = ops.adaptive_avg_pool2d(x, [1, 1]).reshape(x.shape[0], x.shape[1])
            return ops.addmm(weights["last.bias"], pooled, weights["last.weight"].T)

        return forward

    def _blocks(self):
        for stage in range(len(self.WIDTHS)):
            for block in range(2):
                first = stage > 0 and block == 0
                yield f"{stage}.{block}", 2 if first else 1, first


class Llama:
    """A decoder with grouped heads, rotary positions, gated layers and a cache; it takes one token at a time."""

    LAYERS, DIM, HEADS, KV_HEADS, HEAD, HIDDEN, WORDS, CONTEXT = 2, 64, 4, 2, 16, 128, 100, 112
    MATRICES = {
        "q": (HEADS * HEAD, DIM), "k": (KV_HEADS * HEAD, DIM), "v": (KV_HEADS * HEAD, DIM),
        "o": (DIM, HEADS * HEAD), "gate": (HIDDEN, DIM), "up": (HIDDEN, DIM), "down": (DIM, HIDDEN),
    }  # fmt: skip

    def __init__(self, generator, quantised):
        self.quantised, self.weights, self.scales = quantised, {}, {}
        random = functools.partial(torch.randn, generator=generator)
        self.words = random(self.WORDS, self.DIM)
        self.gammas = {name: 1 + 0.1 * random(self.DIM) for name in [*self._norms(), "last"]}
        for layer in range(self.LAYERS):
            for name, shape in self.MATRICES.items():
                weight = random(*shape) / math.sqrt(shape[1])
                if quantised:
                    scale = (weight.abs().amax(1) / 127).half()
                    self.scales[f"{name}{layer}"] = scale
                    weight = (weight / scale[:, None].float()).round().clamp(-127, 127).to(torch.int8)
                self.weights[f"{name}{layer}"] = weight
        angles = torch.arange(self.CONTEXT)[:, None] * 10000.0 ** (-torch.arange(0, self.HEAD, 2) / self.HEAD)
        self.cos, self.sin = (part(angles).repeat(1, 2) for part in (torch.cos, torch.sin))

    def _norms(self):
        return [f"{name}{layer}" for layer in range(self.LAYERS) for name in ("attention", "feed")]

    def by_torch(self, tokens):
        """Return the logits after each token, all computed at once."""
        count = len(tokens)
        cos, sin = self.cos[:count], self.sin[:count]

        def times(x, name):
            if not self.quantised:
                return x @ self.weights[name].T
            weight = self.weights[name].float() * self.scales[name].float()[:, None]
            return (x.half().float() @ weight.T).half().float()

        def norm(x, name):
            return F.rms_norm(x, (self.DIM,), self.gammas[name], 1e-6)

        def rotate(x):
            one, other = x.chunk(2, -1)
            return x * cos[:, None] + torch.cat([-other, one], -1) * sin[:, None]

        x = self.words[tokens]
        for layer in range(self.LAYERS):
            y = norm(x, f"attention{layer}")
            q = rotate(times(y, f"q{layer}").view(count, self.HEADS, self.HEAD))
            k = rotate(times(y, f"k{layer}").view(count, self.KV_HEADS, self.HEAD))
            v = times(y, f"v{layer}").view(count, self.KV_HEADS, self.HEAD)
            y = F.scaled_dot_product_attention(*(each.transpose(0, 1) for each in (q, k, v)), is_causal=True,
                                               enable_gqa=True)  # fmt: skip
            x = x + times(y.transpose(0, 1).reshape(count, -1), f"o{layer}")
            y = norm(x, f"feed{layer}")
            x = x + times(F.silu(times(y, f"gate{layer}")) * times(y, f"up{layer}"), f"down{layer}")
        return norm(x, "last") @ self.words.T


class LlamaOnDevice:
    """The same decoder on a device; tokens and positions are in its memory, so that a captured step can be replayed."""

    def __init__(self, model, tokens):
        self.model, self.tokens = model, device(tokens)
        self.weights, self.scales, self.gammas = (
            {name: device(value) for name, value in values.items()}
            for values in (model.weights, model.scales, model.gammas)
        )
        self.words, self.cos, self.sin = (device(value) for value in (model.words, model.cos, model.sin))
        self.places = device(torch.arange(model.CONTEXT))
        self.position = acl.DeviceArray.zeros(1, "i8")
        shape = (model.KV_HEADS, model.CONTEXT, model.HEAD)
        self.caches = {f"{kind}{layer}": acl.DeviceArray.zeros(shape)
                       for kind in "kv" for layer in range(model.LAYERS)}  # fmt: skip

    def _times(self, ops, x, name):
        if not self.model.quantised:
            return ops.mm(x, self.weights[name].T)
        half = ops.cast(x, "f2")
        y = ops.weight_quant_batch_matmul_v2(half, self.weights[name].T, self.scales[name], None, None, None, None, 0)
        return ops.cast(y, "f4")

    def _heads(self, ops, x, name, heads):
        return self._times(ops, x, name).reshape(1, heads, self.model.HEAD)

    def _rotate(self, ops, x):
        half = self.model.HEAD // 2
        turned = ops.cat([ops.neg(x[..., half:]), x[..., :half]], -1)
        cos, sin = (ops.index_select(table, 0, self.position) for table in (self.cos, self.sin))
        return ops.add(ops.mul(x, cos), ops.mul(turned, sin))

    def _attend(self, ops, y, layer):
        model = self.model
        q = self._rotate(ops, self._heads(ops, y, f"q{layer}", model.HEADS))
        k = self._rotate(ops, self._heads(ops, y, f"k{layer}", model.KV_HEADS))
        v = self._heads(ops, y, f"v{layer}", model.KV_HEADS)
        for kind, value in (("k", k), ("v", v)):
            ops.inplace_index_copy(self.caches[f"{kind}{layer}"], 1, self.position, value.transpose(1, 0, 2))
        q = q.reshape(model.KV_HEADS, model.HEADS // model.KV_HEADS, model.HEAD)
        scores = ops.muls(ops.batch_mat_mul(q, self.caches[f"k{layer}"].transpose(0, 2, 1)), model.HEAD**-0.5)
        later = ops.gt_tensor(self.places, self.position)
        ops.inplace_masked_fill_scalar(scores, later, -math.inf)
        return ops.batch_mat_mul(ops.softmax(scores, -1), self.caches[f"v{layer}"]).reshape(1, model.HEADS * model.HEAD)

    def step(self, stream):
        """Take the next token and return its logits; the position moves on."""
        ops = Ops(stream)
        x = ops.embedding(self.words, ops.index_select(self.tokens, 0, self.position))
        for layer in range(self.model.LAYERS):
            y = ops.rms_norm(x, self.gammas[f"attention{layer}"])[0]
            x = ops.add(x, self._times(ops, self._attend(ops, y, layer), f"o{layer}"))
            y = ops.rms_norm(x, self.gammas[f"feed{layer}"])[0]
            gated = ops.mul(ops.silu(self._times(ops, y, f"gate{layer}")), self._times(ops, y, f"up{layer}"))
            x = ops.add(x, self._times(ops, gated, f"down{layer}"))
        logits = ops.mm(ops.rms_norm(x, self.gammas["last"])[0], self.words.T)
        ops.inplace_adds(self.position, 1)
        return logits


class Experts:
    """A layer that sends each token to two of eight gated networks, and adds what they return, by their weights."""

    EXPERTS, CHOSEN, DIM, HIDDEN = 8, 2, 32, 48

    def __init__(self, generator):
        def random(*shape):
            return torch.randn(shape, generator=generator) / math.sqrt(shape[-2])

        self.gate = random(self.DIM, self.EXPERTS)
        self.first = random(self.EXPERTS, self.DIM, 2 * self.HIDDEN)
        self.second = random(self.EXPERTS, self.HIDDEN, self.DIM)

    def by_torch(self, x):
        weights, chosen = (x @ self.gate).softmax(-1).topk(self.CHOSEN, -1)
        y = torch.zeros_like(x)
        for token, (row, experts) in enumerate(zip(weights, chosen)):
            for weight, expert in zip(row, experts):
                one, other = (x[token] @ self.first[expert]).chunk(2)
                y[token] += weight * ((F.silu(one) * other) @ self.second[expert])
        return y

    def on_device(self):
        """Return the layer as a function of an array and a stream."""
        gate, first, second = device(self.gate), device(self.first), device(self.second)
        missing = [None] * 5

        def forward(x, stream):
            ops = Ops(stream)
            weights, chosen, _ = ops.moe_gating_top_k_softmax(ops.mm(x, gate), None, self.CHOSEN)
            spread, places, ends = ops.moe_init_routing_v2(x, chosen, 0, 0, self.EXPERTS, 0, 1, False)
            ends = ops.cast(ends, "i8")
            (hidden,) = ops.grouped_matmul_v3([spread], [first], *missing, ends, 3, 0)
            (result,) = ops.grouped_matmul_v3([ops.swi_glu(hidden, -1)], [second], *missing, ends, 3, 0)
            return ops.moe_finalize_routing_v2(result, places, None, None, None, weights, None, 2)

        return forward
