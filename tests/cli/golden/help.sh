show help
show run --help
show bench --help
show help journal
show report -h
show doctor --help
show model --help | sed '/^models:/,/^exit/d'
show --version | mask
