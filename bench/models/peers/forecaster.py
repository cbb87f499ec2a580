"""PyTorch's LSTM followed by a linear layer, as sequence.py and gpu.py measure it."""
import peer

torch = peer.torch()


class Forecaster(torch.nn.Module):
    def __init__(self, inputs, hidden, layers, outputs):
        super().__init__()
        self.lstm = torch.nn.LSTM(inputs, hidden, layers, batch_first=True)
        self.fc = torch.nn.Linear(hidden, outputs)

    def forward(self, x, state=None):
        sequence, state = self.lstm(x, state)
        return self.fc(sequence[:, -1]), state
