class WatchReport:
    def _activations(self):
        return None
