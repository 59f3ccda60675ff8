#!/usr/bin/perl
# A gateway from another search protocol to a Broker, which reads as one of 1998 did (broker.md RC, hints 10.4). It passes and/or/not of
# its user on, puts every other word into double quotes and spaces around parentheses, and requests one object more than LIMIT. It ends
# lines with CR LF, does not half-close, and opens a new connection for each query.
#   perl gateway.pl HOST PORT LIMIT [-attribute NAME]... TERM...
# Prints `url`, `NAME=VALUE`, `record` and `error LINE` lines, at the end `records N`, and `truncated` if there are more than LIMIT.
use strict;
use warnings;
use IO::Socket::INET;

my ($host, $port, $limit, @terms) = @ARGV;
my @attributes;
while (@terms && $terms[0] eq '-attribute') { shift @terms; push @attributes, shift @terms; }

# Its users type `name=value` for a field, and (, ), and, or, not for structure.
my @words = map { /^(?:and|or|not|\(|\))$/i ? $_ : "\"$_\"" } @terms;
my $flags = join '', map { "#attribute $_ " } @attributes;
my $message = "#USER #desc #opaque #index case insensitive #index maxfiles " . ($limit + 1) . " $flags#END " . join(' ', @words);

my $socket = IO::Socket::INET->new(PeerAddr => $host, PeerPort => $port, Proto => 'tcp') or die "no connection: $!";
binmode $socket;
binmode STDOUT;
print $socket "$message\r\n";
$socket->flush;

my ($records, $inside) = (0, 0);
my $line;
while (defined($line = <$socket>)) {
    if ($line =~ /^(?:111|103) - .*ERROR/) { print "error $line"; next; }
    next if $line =~ /^(?:200|125|126) - /;
    if ($line =~ /^120 - (.*?)\r?\n/) {
        $inside = 1;
        print "url $1\n";
        next;
    }
    next unless $inside;
    if ($line =~ /^124 - (\d+)/) {
        # Skips the line with the count, reads the bytes after it, and discards the rest of their line.
        read($socket, my $description, $1) == $1 or die 'cut off in a description';
        <$socket>;
        next;
    }
    if ($line =~ /^127 - (.*) (\d+)\s*$/) {
        my ($name, $size) = ($1, $2);
        my $value = '';
        $size == 0 or read($socket, $value, $size) == $size or die 'cut off in an attribute';
        $value =~ s/\n/ /g;
        print "$name=$value\n";
        next;
    }
    if ($line =~ /^130 - object end/) {
        $records++;
        $inside = 0;
        print "record\n";
    }
}
print "records $records\n";
print "truncated\n" if $records > $limit;
