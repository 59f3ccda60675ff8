#!/usr/bin/perl
# A line-based SOIF reader of 1995 (soif.md 4.1, 4.4, 4.7). A header is alone on its line; a value is the rest of its line, and further
# bytes if its size requires them, of which the last one is dropped. Reads a stream on standard input.
# Prints each URL, then `objects N attributes N`.
use strict;
use warnings;
binmode STDIN;
my ($objects, $attributes) = (0, 0);
while (defined(my $line = <STDIN>)) {
    next unless $line =~ /^\@(\w+)\s?\{\s?(\S+)\s?$/;
    my $url = $2;
    my $type = $1;
    next if $url =~ /^[\@}]/;
    print "$url\n";
    $objects++;
    while (defined($line = <STDIN>)) {
        last if $line =~ /^\s*\}\s*$/;
        if ($line =~ /^\s*([^{]+)\{(\d+)\}:\t(.*)$/s) {
            my ($size, $value) = ($2, $3);
            my $missing = $size - length $value;
            if ($missing >= 0) { read(STDIN, my $rest, $missing + 1) == $missing + 1 or die "value cut off"; }
            $attributes++;
        }
    }
}
print "objects $objects attributes $attributes\n";
