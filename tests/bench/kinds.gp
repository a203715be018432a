# The table of bench-kinds as a plot: gnuplot -e "table='kinds.txt'" tests/bench/kinds.gp >data/gallery/kinds.svg
set terminal svg size 720,440 font "sans-serif,13" background "#ffffff"
set logscale xy
set xlabel "tokens"
set ylabel "milliseconds, 12 heads of 64, one thread"
set xtics (1024, 4096, 16384)
set xrange [900:20000]
set key outside right
set grid ytics lc rgb "#dddddd"
names = system("awk '!/^#/{print $1}' " . table)
points_of(i) = sprintf("<awk '$1 == \"%s\" {print 1024, $2; print 4096, $3; print 16384, $4}' %s", word(names, i), table)
plot for [i = 1:words(names)] points_of(i) using 1:2 with linespoints lw 2 pt 7 ps 0.5 title word(names, i)
