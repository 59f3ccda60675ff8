// The limits of connections that every program with a port takes in the same words.

/** Limits of the connections of a server, as its program takes them. What is undefined is the server's own default. */
export interface PeerLimits {
  /** Connections of each port at once. */
  readonly maxConnections?: number | undefined;
  /** Connections of each port at once of one IPv4 address or IPv6 /64. Default: a quarter of them; for this machine all. */
  readonly maxPerAddress?: number | undefined;
  /** Bytes per second that a peer must accept on average over `timeoutMs`. Default 100; 0: any progress suffices. */
  readonly minBytesPerSecond?: number | undefined;
  /** Milliseconds after which a peer is cut that sends nothing that was expected, or accepts nothing. */
  readonly timeoutMs?: number | undefined;
}
