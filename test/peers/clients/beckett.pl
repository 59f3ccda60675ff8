#!/usr/bin/perl
# A sample client as published in 1997 (gatherd.md 3.1, 3.6, 6.2, 6.6, 7.2, 7.4). It ends lines with LF, sends HELLO, interprets the
# number at the start of each line, pipes the raw stream into `gzip -d`, and searches the stream for 499.
#   perl beckett.pl [-info] [-nocompress] HOST PORT [TIMESTAMP]
# Writes the stream (or the description) to standard output, and `protocol VERSION host NAME` and the end line to standard error.
use strict;
use warnings;
use IO::Socket::INET;

my ($info, $compress) = (0, 1);
while (@ARGV && $ARGV[0] =~ /^-(info|nocompress)$/) {
    $1 eq 'info' ? ($info = 1) : ($compress = 0);
    shift @ARGV;
}
my ($host, $port, $since) = @ARGV;
my $socket = IO::Socket::INET->new(PeerAddr => $host, PeerPort => $port, Proto => 'tcp') or die "no connection: $!";
binmode $socket;
binmode STDOUT;
$| = 1;

sub status {
    while (defined(my $line = <$socket>)) {
        return ($1, $2) if $line =~ /^(\d+) - (.*)$/;
    }
    die "the server closed";
}

my ($code, $text) = status();
$code eq '000' && $text =~ /^HELLO (\S+) (\S+)/ or die "no greeting: $code $text";
print STDERR "protocol $1 host $2\n";
print $socket "HELLO client.example.org\n";
($code, $text) = status();
$code eq '100' or die "HELLO: $code $text";

if ($info) {
    print $socket "INFO\n";
    while (defined(my $line = <$socket>)) {
        print $line;
        last if $line =~ /^\}/;
    }
    print $socket "QUIT\n";
    while (1) {
        ($code, $text) = status();
        last if $code eq '999';
    }
    exit 0;
}

if ($compress) {
    print $socket "SET compression\n";
    ($code, $text) = status();
    $compress = 0 if $code ne '500';
}
print $socket 'SEND-UPDATE ', $since // 0, "\n";
($code, $text) = status();
$code eq '400' or die "SEND-UPDATE: $code $text";
my $output = \*STDOUT;
if ($compress) {
    open $output, '|-', 'gzip', '-dc' or die "gzip: $!";
    binmode $output;
}
while (defined(my $line = <$socket>)) {
    my ($end) = $compress ? $line =~ /499 - ([^\n]*)$/ : $line =~ /^499 - ([^\n]*)$/;
    print STDERR "end $end\n" if defined $end;
    print $output $line if $compress || !defined $end;
    last if defined $end;
}
close $output if $compress;
print STDERR 'gzip status ', $? >> 8, "\n" if $compress;
print $socket "QUIT\n";
($code, $text) = status();
print STDERR "quit $code\n";
