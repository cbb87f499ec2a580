"""What the package says unasked goes to the logger "assay", and nowhere else unless the program listens."""
import sys


def log(level, message, *arguments):
    """Log a message at the level "debug", "info" or "warning".

    A program that has not imported logging has no handler either, so logging is not imported for it: that would take a third of the time
    that `import assay` takes.
    """
    logging = sys.modules.get("logging")
    if logging is None:
        return
    logger = logging.getLogger("assay")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())        # else Python would print warnings where the program has no handler
    logger.log(getattr(logging, level.upper()), message, *arguments, stacklevel=3)
