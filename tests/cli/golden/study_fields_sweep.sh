# The sweep: every variant has a line, its parameters are those of its shape, and a resumed study trains nothing again.
"$ASSAY" study fields --quick --epochs 2 --samples 256 --out out --depths 1,2 --activations relu,gelu --grids 3,5 >report.txt
sed -n '/^TIMING SUMMARY - fields, sweep/,/^=====*$/p; /^Variant/,/^$/p' report.txt | sed -E 's/ +[0-9.]+s \( *[0-9.]+%\)/ #/; s/ +[0-9]+\.[0-9]+(e[-+][0-9]+)?/ #/g; s/ [0-9] of 9/ # of 9/; s/^(Total|Average).*//'
cut -d, -f1,2 out/sweep.csv
tail -n 3 report.txt
"$ASSAY" study fields --quick --epochs 2 --samples 256 --out out --depths 1,2 --activations relu,gelu --grids 3,5 >again.txt
head -n 1 again.txt
diff <(sed -n '/^Variant/,/^$/p' report.txt) <(sed -n '/^Variant/,/^$/p' again.txt) && echo same
python3 - <<'END'
import json
figures = {(f["name"], f["of"]): f["value"] for f in json.load(open("out/record.json"))["figures"] if f.get("of")}
print(figures["parameters", "KAN grid 5"], figures["parameters", "MLP depth 2 gelu"] == 2 * 64 + 64 + 64 * 64 + 64 + 64 + 1)
END
show study fields --quick --epochs 2 --samples 256 --out out --depths 1,3
show study fields --quick --depths 1,two --out other
show study fields --quick --depths 1,,2 --out other
show study fields --quick --activations relu,geluu --out other
show study fields --quick --depths 1,2,3,4,5,6,7,8 --activations relu,tanh,gelu,silu,sigmoid --out other
[ -e other ] || echo 'nothing was begun'
