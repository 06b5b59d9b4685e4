"""Small models of the usual kinds in torch.nn alone. Each returns a dictionary with its loss and its outputs."""

import torch
from model import Inputs, Model
from torch import nn

F = nn.functional


class Classifier(nn.Module):
    """A network of layers that gives images their classes."""

    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, images, labels):
        """Return the scores."""
        scores = self.layers(images)
        return {"loss": F.cross_entropy(scores, labels, label_smoothing=0.1), "scores": scores}


def vgg():
    """Return convolutions of growing width between poolings, and wide linear layers, as in VGG."""
    layers, before = [], 3
    for width in (8, 16, 32):
        for _ in range(2):
            layers += [nn.Conv2d(before, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
            before = width
        layers.append(nn.MaxPool2d(2, 2))
    layers += [nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(128, 64), nn.ReLU(inplace=True), nn.Linear(64, 10)]
    return Classifier(*layers)


class Inverted(nn.Module):
    """A block of MobileNetV3: widen, convolve each channel alone, weigh the channels, narrow."""

    def __init__(self, before, wide, after, stride, act):
        super().__init__()
        self.widen = nn.Sequential(nn.Conv2d(before, wide, 1, bias=False), nn.BatchNorm2d(wide), act())
        alone = nn.Conv2d(wide, wide, 5, stride, 2, groups=wide, bias=False)
        self.alone = nn.Sequential(alone, nn.BatchNorm2d(wide), act())
        self.weigh = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(wide, wide // 4, 1), nn.ReLU(), nn.Conv2d(wide // 4, wide, 1),
            nn.Hardsigmoid(),
        )  # fmt: skip
        self.narrow = nn.Sequential(nn.Conv2d(wide, after, 1, bias=False), nn.BatchNorm2d(after))
        self.short = before == after and stride == 1

    def forward(self, x):
        """Return the narrow images."""
        y = self.alone(self.widen(x))
        y = self.narrow(y * self.weigh(y))
        return x + y if self.short else y


def mobilenet():
    """Return inverted blocks with both of their activations, as in MobileNetV3."""
    return Classifier(
        nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.Hardswish(),
        Inverted(8, 16, 8, 1, nn.ReLU6), Inverted(8, 24, 16, 2, nn.Hardswish), Inverted(16, 32, 16, 1, nn.Hardswish),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10),
    )  # fmt: skip


class Dense(nn.Module):
    """A block of DenseNet: each layer sees the outputs of all layers before it."""

    def __init__(self, before, growth, count):
        super().__init__()
        widths = [before + growth * place for place in range(count)]
        self.layers = nn.ModuleList(
            nn.Sequential(nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, growth, 3, padding=1, bias=False))
            for width in widths
        )

    def forward(self, x):
        """Return the channels of the input and of all layers."""
        for layer in self.layers:
            x = torch.cat([x, layer(x)], 1)
        return x


def densenet():
    """Return two dense blocks with a transition between them."""
    between = nn.BatchNorm2d(20), nn.ReLU(), nn.Conv2d(20, 10, 1, bias=False), nn.AvgPool2d(2)
    last = nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(22, 10)
    return Classifier(nn.Conv2d(3, 8, 3, 2, 1, bias=False), Dense(8, 4, 3), *between, Dense(10, 4, 3), *last)


class UNet(nn.Module):
    """Down and up again with shortcuts between equal sizes; it gives each pixel a class."""

    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([self.twice(3, 8), self.twice(8, 16), self.twice(16, 32)])
        self.grow = nn.ModuleList([nn.ConvTranspose2d(32, 16, 2, 2), nn.Conv2d(16, 8, 1)])
        self.up = nn.ModuleList([self.twice(32, 16), self.twice(16, 8)])
        self.last = nn.Conv2d(8, 4, 1)

    @staticmethod
    def twice(before, after):
        """Return two convolutions with norms."""
        return nn.Sequential(
            nn.Conv2d(before, after, 3, padding=1), nn.GroupNorm(4, after), nn.SiLU(),
            nn.Conv2d(after, after, 3, padding=1, padding_mode="reflect"), nn.InstanceNorm2d(after, affine=True),
            nn.ELU(),
        )  # fmt: skip

    def forward(self, images, labels):
        """Return the scores of each pixel."""
        first = self.down[0](images)
        second = self.down[1](F.max_pool2d(first, 2))
        x = self.down[2](F.avg_pool2d(second, 3, 2, 1))
        x = self.up[0](torch.cat([self.grow[0](x), second], 1))
        x = F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        scores = self.last(self.up[1](torch.cat([self.grow[1](x), first], 1)))
        chance = scores.softmax(1)
        wanted = F.one_hot(labels, 4).permute(0, 3, 1, 2).to(chance.dtype)
        overlap = (chance * wanted).sum((0, 2, 3)) / (chance + wanted).sum((0, 2, 3))
        return {"loss": F.cross_entropy(scores, labels, ignore_index=3) + 1 - 2 * overlap.mean(), "scores": scores}


class Autoencoder(nn.Module):
    """A variational autoencoder: convolutions to a mean and a variance, transposed convolutions back."""

    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(8, 16, 3, 2, 1), nn.PReLU(16), nn.Flatten(),
            nn.Linear(16 * 64, 16),
        )  # fmt: skip
        self.decode = nn.Sequential(
            nn.Linear(8, 16 * 64), nn.Softplus(), nn.Unflatten(1, (16, 8, 8)),
            nn.ConvTranspose2d(16, 8, 3, 2, 1, output_padding=1), nn.Mish(),
            nn.ConvTranspose2d(8, 3, 4, 2, 1), nn.Sigmoid(),
        )  # fmt: skip

    def forward(self, images, noise):
        """Return the images that it made from the means, the variances and the noise."""
        mean, variance = self.encode(images).chunk(2, 1)
        made = self.decode(mean + noise * (0.5 * variance).exp())
        apart = -0.5 * (1 + variance - mean.square() - variance.exp()).sum(1).mean()
        return {"loss": F.binary_cross_entropy(made, images.sigmoid()) + 0.01 * apart, "made": made}


class Adversaries(nn.Module):
    """A generator of images, and a critic that tells them from others."""

    def __init__(self):
        super().__init__()
        self.generator = nn.Sequential(
            nn.ConvTranspose2d(8, 16, 4), nn.BatchNorm2d(16), nn.ReLU(), nn.ConvTranspose2d(16, 8, 4, 2, 1),
            nn.BatchNorm2d(8), nn.ReLU(), nn.ConvTranspose2d(8, 3, 8, 4, 2), nn.Tanh(),
        )  # fmt: skip
        self.critic = nn.Sequential(
            nn.Conv2d(3, 8, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(8, 16, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Conv2d(16, 1, 8), nn.Flatten(),
        )  # fmt: skip

    def forward(self, images, noise):
        """Return the sum of both losses, of which each has gradients of its own network alone."""
        made = self.generator(noise[:, :, None, None])
        told = [self.critic(images), self.critic(made.detach())]
        frozen = {name: weight.detach() for name, weight in self.critic.named_parameters()}
        deceived = torch.func.functional_call(self.critic, frozen, made)
        loss = F.binary_cross_entropy_with_logits
        wanted = torch.ones_like(deceived)
        total = loss(told[0], wanted) + loss(told[1], 1 - wanted) + loss(deceived, wanted)
        return {"loss": total, "made": made, "told": told}


class Translator(nn.Module):
    """The encoder and decoder of torch.nn, with masks for padding and for later words."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(50, 32, padding_idx=0), nn.Parameter(0.1 * torch.randn(16, 32))
        self.both = nn.Transformer(32, 4, 2, 2, 64, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
        self.last = nn.Linear(32, 50)

    def forward(self, source, target):
        """Return the scores of each next word."""
        before, after = target[:, :-1], target[:, 1:]
        later = nn.Transformer.generate_square_subsequent_mask(before.shape[1], device=source.device)
        x, y = (self.words(text) + self.places[: text.shape[1]] for text in (source, before))
        padding = torch.zeros_like(source, dtype=x.dtype).masked_fill(source == 0, float("-inf"))
        scores = self.last(self.both(x, y, tgt_mask=later, src_key_padding_mask=padding, tgt_is_causal=True))
        return {"loss": F.cross_entropy(scores.flatten(0, 1), after.flatten(), ignore_index=0), "scores": scores}


class Graph(nn.Module):
    """Nodes that weigh the messages along their edges, as in a graph attention network, and pool per graph."""

    def __init__(self):
        super().__init__()
        self.first, self.weigh, self.last = nn.Linear(6, 16), nn.Linear(32, 1), nn.Linear(48, 3)

    def forward(self, nodes, edges, graphs, labels):
        """Return the scores of each graph."""
        source, target = edges
        x = self.first(nodes)
        weight = F.leaky_relu(self.weigh(torch.cat([x[source], x.index_select(0, target)], 1)), 0.2).squeeze(1)
        largest = torch.full_like(x[:, 0], -9.0).scatter_reduce(0, target, weight.detach(), "amax")
        weight = (weight - largest[target]).exp()
        total = torch.zeros_like(largest).index_add(0, target, weight)
        messages = (weight / total[target])[:, None] * x[source]
        x = torch.relu(x + torch.zeros_like(x).scatter_add(0, target[:, None].expand_as(messages), messages))
        count, places = int(labels.numel()), graphs[:, None].expand_as(x)
        sums = torch.zeros(count, x.shape[1], device=x.device).index_add_(0, graphs, x)
        sizes = torch.bincount(graphs, minlength=count)[:, None]
        largest = torch.zeros_like(sums).scatter_reduce(0, places, x, "amax")
        scores = self.last(torch.cat([sums, sums / sizes, largest], 1))
        return {"loss": F.cross_entropy(scores, labels), "scores": scores, "nodes": x}


class Tagger(nn.Module):
    """A bidirectional recurrent network over texts of several lengths, with attention, that tags each word."""

    def __init__(self):
        super().__init__()
        self.words, self.recurrent = nn.Embedding(50, 16), nn.GRU(16, 16, 2, batch_first=True, bidirectional=True)
        self.attend, self.last = nn.MultiheadAttention(32, 4, batch_first=True), nn.Linear(32, 5)

    def forward(self, texts, labels):
        """Return the scores of each tag."""
        x = self.recurrent(self.words(texts))[0]
        y, weights = self.attend(x, x, x, key_padding_mask=texts == 0)
        scores = self.last(x + y)
        loss = F.nll_loss(scores.log_softmax(2).transpose(1, 2), labels.masked_fill(texts == 0, -100))
        return {"loss": loss, "scores": scores, "weights": weights}


class Video(nn.Module):
    """Convolutions in three dimensions and in one: moving images, and the sounds that go with them."""

    def __init__(self):
        super().__init__()
        self.see = nn.Sequential(
            nn.Conv3d(3, 8, 3, padding=1), nn.BatchNorm3d(8), nn.ReLU(), nn.MaxPool3d(2), nn.Conv3d(8, 8, (1, 3, 3)),
            nn.AdaptiveAvgPool3d(1), nn.Flatten(),
        )  # fmt: skip
        self.hear = nn.Sequential(
            nn.Conv1d(1, 8, 5, 2, dilation=2), nn.BatchNorm1d(8), nn.SELU(), nn.Conv1d(8, 8, 3, groups=4), nn.GLU(1),
            nn.AdaptiveAvgPool1d(2), nn.Flatten(),
        )  # fmt: skip
        self.match = nn.Bilinear(8, 8, 4)

    def forward(self, images, sounds, labels):
        """Return the scores of each pair."""
        seen, heard = self.see(images), self.hear(sounds)
        scores = self.match(seen, heard)
        near = F.cosine_embedding_loss(seen, heard, 2.0 * (labels % 2) - 1)
        return {"loss": F.cross_entropy(scores, labels) + near, "scores": scores}


def cases():
    """Return the models with their inputs."""
    inputs = Inputs(11)
    numbers, integers = inputs.numbers, inputs.integers
    images = {"images": numbers(4, 3, 32, 32), "labels": integers(10, 4)}
    video = {"images": numbers(4, 3, 4, 8, 8), "sounds": numbers(4, 1, 64), "labels": integers(4, 4)}
    nodes = {"nodes": numbers(30, 6), "edges": integers(30, 2, 90), "graphs": torch.arange(30) // 8}
    source = integers(50, 4, 12, low=1)
    source[:2, 9:] = 0  # padding
    return [
        Model("vgg", vgg, images),
        Model("mobilenet", mobilenet, images),
        Model("densenet", densenet, images),
        Model("unet", UNet, {"images": images["images"], "labels": integers(4, 4, 32, 32)}),
        Model("autoencoder", Autoencoder, {"images": images["images"], "noise": numbers(4, 8)}),
        Model("adversaries", Adversaries, {"images": images["images"], "noise": numbers(4, 8)}),
        Model("translator", Translator, {"source": source, "target": integers(50, 4, 10)}),
        Model("graph", Graph, {**nodes, "labels": integers(3, 4)}),
        Model("tagger", Tagger, {"texts": source, "labels": integers(5, 4, 12)}),
        Model("video", Video, video),
    ]
