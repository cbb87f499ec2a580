"""Messages of the package go to the logger "assay". They appear nowhere unless the program has a handler for them."""
import sys


def log(level, message, *arguments):
    """Log a message at the level "debug", "info" or "warning".

    A program that has not imported logging has no handler either. So this function does not import logging, which would take a third of the
    time of `import assay`.
    """
    logging = sys.modules.get("logging")
    if logging is None:
        return
    logger = logging.getLogger("assay")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())        # otherwise Python would print warnings if the program has no handler
    logger.log(getattr(logging, level.upper()), message, *arguments, stacklevel=3)
