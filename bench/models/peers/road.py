"""Beam search and training of the next-road model in PyTorch, as in bench/models/road.c. The network, the weights and the
pairs of roads are the same; the benchmark left them in the folder that ASSAY_ROAD_BENCH names. The search is batched over
the beam: one pass of the model for each step. Before timing, the routes are compared with ours; the number that agrees goes
to agreement.txt in that folder."""
import math
import os

import peer

torch = peer.torch()
import numpy  # noqa: E402  (after peer has set the number of threads)

FOLDER = os.environ["ASSAY_ROAD_BENCH"]
WIDTH, STEPS = 4, 1000


def load(name):
    return torch.from_numpy(numpy.load(f"{FOLDER}/{name}.npy"))


class NextRoad(torch.nn.Module):
    def __init__(self, weights):
        super().__init__()
        roads, embedding = weights["road_embedding.weight"].shape
        hidden, scorer = weights["gru.weight_hh_l0"].shape[1], weights["score.0.bias"].shape[0]
        self.road_embedding = torch.nn.Embedding(roads, embedding)
        self.destination_embedding = torch.nn.Embedding(roads, embedding)
        self.gru = torch.nn.GRU(embedding, hidden, batch_first=True)
        self.score = torch.nn.Sequential(torch.nn.Linear(hidden + 2 * embedding + 6, scorer), torch.nn.ReLU(),
                                         torch.nn.Linear(scorer, 1, bias=False))
        self.load_state_dict(weights)

    def scores(self, states, candidates, destinations, features):
        """Log-probabilities (..., choices) over candidates (..., choices), -1 where there is none."""
        choices = candidates.shape[-1]
        parts = (states.unsqueeze(-2).expand(*states.shape[:-1], choices, -1), self.road_embedding(candidates.clamp(min=0)),
                 self.destination_embedding(destinations).unsqueeze(-2).expand(*states.shape[:-1], choices, -1), features)
        logits = self.score(torch.cat(parts, dim=-1)).squeeze(-1)
        return torch.log_softmax(logits.masked_fill(candidates < 0, -math.inf), dim=-1)


class Searcher:
    def __init__(self, model):
        self.model = model
        self.end = torch.stack((load("end_x"), load("end_y")), dim=1)
        self.heading = torch.stack((load("heading_x"), load("heading_y")), dim=1)
        self.length, self.speed = load("length_m").float(), load("speed_mps").float() * 3.6 / 100
        self.log_length = torch.log1p(self.length / 100)
        first, following = load("first").tolist(), load("next").tolist()
        widest = max(b - a for a, b in zip(first, first[1:]))
        self.successors = torch.full((len(first) - 1, widest), -1)
        for road, (a, b) in enumerate(zip(first, first[1:])):
            self.successors[road, : b - a] = torch.tensor(following[a:b])

    def features(self, roads, candidates, destination):
        to = candidates.clamp(min=0)
        ahead = self.end[destination] - self.end[roads]
        before = ahead.norm(dim=-1)
        after = (self.end[destination] - self.end[to]).norm(dim=-1)
        bearing = (self.heading[to] * ahead.unsqueeze(1)).sum(-1) / before.clamp(min=1e-30).unsqueeze(1)
        return torch.stack((torch.log1p(after / 1000),
                            ((before.unsqueeze(1) - after) / self.length[to]).clamp(-2, 2),
                            bearing, (self.heading[roads].unsqueeze(1) * self.heading[to]).sum(-1),
                            self.log_length[to], self.speed[to]), dim=-1)

    @torch.no_grad()
    def search(self, origin, destination):
        """The roads of the route and its log-probability, or None if no route was found."""
        beam, states, expanded = [(0.0, [origin])], None, set()
        for _ in range(STEPS):
            for log_probability, route in beam:
                if route[-1] == destination:
                    return route, log_probability
            expanded.update(route[-1] for _, route in beam)
            roads = torch.tensor([route[-1] for _, route in beam])
            _, states = self.model.gru(self.model.road_embedding(roads).unsqueeze(1), states)
            candidates = self.successors[roads]
            goals = torch.full((len(beam),), destination)
            scores = self.model.scores(states[0], candidates, goals, self.features(roads, candidates, destination))
            best = {}
            for i, (row, roads_there) in enumerate(zip(scores.tolist(), candidates.tolist())):
                for score, road in zip(row, roads_there):
                    if road >= 0 and road not in expanded:
                        total = beam[i][0] + score
                        if road not in best or total > best[road][0]:
                            best[road] = (total, i)
            kept = sorted(best.items(), key=lambda item: -item[1][0])[:WIDTH]
            if not kept:
                return None
            states = states[:, [i for _, (_, i) in kept]]
            beam = [(total, beam[i][1] + [road]) for road, (total, i) in kept]
        return None


def agreement(searcher, pairs):
    """The number of our routes that equal the peer's. A different route counts if its probability agrees to 1e-4 (a tie
    that rounding decided)."""
    routes, starts, likely = load("routes").tolist(), load("route_first").tolist(), load("log_probability").tolist()
    same = 0
    for i, (origin, destination) in enumerate(pairs):
        ours = routes[starts[i]:starts[i + 1]]
        found = searcher.search(origin, destination)
        same += (found is None) == (not ours) and (
            found is None or (abs(found[1] - likely[i]) < 1e-3 and (found[0] == ours or abs(found[1] - likely[i]) < 1e-4)))
    with open(f"{FOLDER}/agreement.txt", "w") as stream:
        stream.write(f"{same}\n")


def trainer(model):
    inputs = [load(name) for name in ("trajectories", "destinations", "candidates", "features")]
    target = load("target")
    decisions = (target.sum(-1) > 0).sum()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)

    def step():
        optimizer.zero_grad()
        driven, destinations, candidates, features = inputs
        states, _ = model.gru(model.road_embedding(driven.clamp(min=0)))
        logs = model.scores(states, candidates, destinations.unsqueeze(1).expand_as(driven), features)
        loss = -(target * torch.where(target > 0, logs, torch.zeros_like(logs))).sum() / decisions
        loss.backward()
        optimizer.step()

    return step


names = [line.strip() for line in open(f"{FOLDER}/weights.txt")]
searcher = Searcher(NextRoad({name: load(name) for name in names}))
pairs = load("pairs").tolist()
agreement(searcher, pairs)
step = trainer(NextRoad({name: load(name) for name in names}))
peer.serve({"beam": lambda: [searcher.search(*pair) for pair in pairs], "train": step})
