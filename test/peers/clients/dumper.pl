#!/usr/bin/perl
# A collector of word statistics that requests all objects of a Broker, as one of 1998 did (broker.md RC, BRK-1.3, 1.4, 2.2). It reads one
# line before it sends, which shows whether the peer is a Broker or a Gatherer, and reads attributes by their sizes. The bytes may be
# followed by LF or directly by the next item.
#   perl dumper.pl HOST PORT ATTRIBUTE...
# Prints `url: name(size) ...` for each object, then `objects N`.
use strict;
use warnings;
use IO::Socket::INET;

my ($host, $port, @attributes) = @ARGV;
my $socket = IO::Socket::INET->new(PeerAddr => $host, PeerPort => $port, Proto => 'tcp') or die "no connection: $!";
binmode $socket;
my $first = <$socket>;
die "a Gatherer\n" if $first =~ /^000 - HELLO/;
die "neither Broker nor Gatherer: $first" unless $first =~ /^200 - .*broker/i;
print $socket '#USER ', (map { "#attribute $_ " } @attributes), "#END #ALLB\r\n";
$socket->flush;

# Everything to the end of file, then item by item.
my $reply = do { local $/; <$socket> } // '';
my ($url, @found);
my $objects = 0;
pos($reply) = 0;
while (pos($reply) < length $reply) {
    if ($reply =~ /\G127 - ([^\n]*) (\d+)\n/gc) {
        my ($name, $size) = ($1, $2);
        push @found, "$name($size)";
        pos($reply) += $size;
        $reply =~ /\G\r?\n/gc;
    }
    elsif ($reply =~ /\G120 - ([^\r\n]*)\r?\n/gc) { ($url, @found) = ($1); }
    elsif ($reply =~ /\G130 - object end\r?\n/gc) {
        print join(' ', "$url:", @found), "\n" if defined $url;
        $objects++;
        undef $url;
    }
    elsif ($reply =~ /\G(?:111|103) - [^\n]*ERROR[^\n]*\n/gc) { die "the Broker reports an error\n"; }
    else { $reply =~ /\G[^\n]*(?:\n|$)/gc or last; }
}
print "objects $objects\n";
