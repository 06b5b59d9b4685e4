"""Small networks of the usual kinds, and the batches that they are trained with."""

import torch
from torch import nn

F = nn.functional


class Perceptron(nn.Sequential):
    """Three linear layers that classify points."""

    def __init__(self):
        super().__init__(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 5))

    @staticmethod
    def batch():
        """Return points and their classes."""
        return torch.randn(32, 20), torch.randint(0, 5, (32,))


class Block(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, before, after, stride):
        super().__init__()
        self.one = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.two = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(after), nn.BatchNorm2d(after)])
        self.short = nn.Identity()
        if before != after or stride != 1:
            self.short = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x):
        """Return the sum of both ways."""
        y = F.relu(self.norms[0](self.one(x)))
        return F.relu(self.norms[1](self.two(y)) + self.short(x))


class ResNet18(nn.Module):
    """The network of that name, with narrower layers.

    It learns slowly: with larger steps, rounding grows until float32 and float64 on the CPU are just as far apart.
    """

    rates = {"sgd": 0.01, "adam": 0.1, "adamw": 0.1}

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU())
        widths, before, blocks = (8, 16, 32, 64), 8, []
        for stage, width in enumerate(widths):
            blocks += [Block(before, width, 2 if stage else 1), Block(width, width, 1)]
            before = width
        self.blocks = nn.Sequential(nn.MaxPool2d(3, 2, 1), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.last = nn.Linear(64, 10)

    def forward(self, x):
        """Return a score per class."""
        return self.last(self.blocks(self.stem(x)))

    @staticmethod
    def batch():
        """Return images and their classes."""
        return torch.randn(8, 3, 64, 64), torch.randint(0, 10, (8,))


class Lstm(nn.Module):
    """A recurrent network that guesses the next character."""

    def __init__(self):
        super().__init__()
        self.embedding, self.lstm = nn.Embedding(30, 16), nn.LSTM(16, 32, num_layers=2, batch_first=True)
        self.last = nn.Linear(32, 30)

    def forward(self, x):
        """Return scores with the classes in the second dimension."""
        return self.last(self.lstm(self.embedding(x))[0]).transpose(1, 2)

    @staticmethod
    def batch():
        """Return texts, and the same one character later."""
        text = torch.randint(0, 30, (8, 17))
        return text[:, :-1].contiguous(), text[:, 1:].contiguous()


class Layer(nn.Module):
    """Attention and a perceptron, as in GPT-2."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.ask, self.answer = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width))

    def forward(self, x):
        """Return the next state of each position."""
        batch, length, width = x.shape
        parts = self.ask(self.norms[0](x)).reshape(batch, length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(x.shape)
        x = x + self.answer(y)
        return x + self.wide(self.norms[1](x))


class Gpt(nn.Module):
    """A small transformer that guesses the next character."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(40, 32), nn.Embedding(16, 32)
        self.layers, self.norm = nn.Sequential(Layer(32, 4), Layer(32, 4)), nn.LayerNorm(32)

    def forward(self, x):
        """Return scores with the classes in the second dimension."""
        x = self.words(x) + self.places(torch.arange(x.shape[1], device=x.device))
        return (self.norm(self.layers(x)) @ self.words.weight.t()).transpose(1, 2)

    @staticmethod
    def batch():
        """Return texts, and the same one character later."""
        text = torch.randint(0, 40, (8, 17))
        return text[:, :-1].contiguous(), text[:, 1:].contiguous()


NETWORKS = {"perceptron": Perceptron, "resnet18": ResNet18, "lstm": Lstm, "gpt": Gpt}
OPTIMIZERS = {
    "sgd": lambda parameters, rate: torch.optim.SGD(parameters, 1e-3 * rate, momentum=0.9),
    "adam": lambda parameters, rate: torch.optim.Adam(parameters, 1e-4 * rate),
    "adamw": lambda parameters, rate: torch.optim.AdamW(parameters, 1e-4 * rate, weight_decay=0.1),
}
