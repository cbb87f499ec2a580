show help
show run --help
show bench --help
show help journal
show help study rom | head -n 2
show help study no-such
show report -h
show doctor --help
show model --help | sed '/^models:/,/^exit/d'
show --version | mask
