#!/usr/bin/perl
# A line-based collector as third parties wrote them in 1998: it sends no HELLO, ends lines with CR LF, and closes the connection early
# (gatherd.md 7.3, soif.md 4.8, broker.md RC). Reads from a Gatherer or, with QUERY, from a Broker.
#   perl centroid.pl HOST PORT [QUERY]
# Prints the URLs of the readable records, then `records N` and `bad N`.
use strict;
use warnings;
use IO::Socket::INET;

my ($host, $port, $query) = @ARGV;
my $socket = IO::Socket::INET->new(PeerAddr => $host, PeerPort => $port, Proto => 'tcp') or die "no connection: $!";
binmode $socket;
my $greeting = <$socket>;
if (defined $query) {
    die "not a broker: $greeting" unless $greeting =~ /^200 - .*broker/i;
    broker($query);
} else {
    die "not a gatherer: $greeting" unless $greeting =~ /^000 - HELLO/;
    gatherer();
}

sub gatherer {
    print $socket "SEND-UPDATE 0\r\n";
    my ($url, $records, $bad) = (undef, 0, 0);
    while (defined(my $line = <$socket>)) {
        last if $line =~ /^(099|499)/;
        if ($line =~ /^\@FILE\s*\{\s*(\S+)/) { $url = $1; print "$url\n"; $records++; next; }
        next if $line =~ /^\s*$/ || $line =~ /^\}\s*$/ || $line =~ /^\@(DELETE|REFRESH|UPDATE)\s*\{/ || $line =~ /^\d\d\d - /;
        if ($line =~ /^([^{]+)\{(\d+)\}:\t(.*)$/s) {
            my ($size, $value) = ($2, $3);
            my $missing = $size + 1 - length $value;
            if ($missing > 0) { read($socket, my $rest, $missing) == $missing or die "cut off in a value"; }
            elsif ($missing < 0) { $bad++; }
            next;
        }
        $bad++;
    }
    print $socket "QUIT\r\n";
    close $socket;
    print "records $records\nbad $bad\n";
}

sub broker {
    my ($text) = @_;
    print $socket "#USER #index case insensitive #index matchword #index maxresult 1000 #desc #END $text\r\n";
    my ($url, $records, $bad) = (undef, 0, 0);
    while (defined(my $line = <$socket>)) {
        $line =~ s/\r?\n$//;
        if ($line =~ /^120 - (.*)/) { $url = $1; }
        elsif ($line =~ /^130 - object end/) { if (defined $url) { print "$url\n"; $records++; } else { $bad++; } undef $url; }
        elsif ($line =~ /^124 - (\d+)/) { read($socket, my $description, $1 + 1); }
        elsif ($line =~ /^(111|103) - .*ERROR/) { print "error $line\n"; $bad++; }
        elsif ($line !~ /^\d\d\d - /) { $bad++; }
    }
    print "records $records\nbad $bad\n";
}
