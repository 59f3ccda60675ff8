// The browsers for which this process queries the Broker's port.

/** One end of a TCP connection. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/**
 * The web pages query the Broker's port like any client, so that all their users come from one address. They
 * say here, by the local end of their connection, for which browser it is. Only this process can: no other one
 * has a connection with the same end at the same time.
 */
export class LocalCallers {
  readonly #addresses = new Map<string, string>();

  /** Says for which address a connection is; the caller disposes of the entry when the connection is closed. */
  register(local: Endpoint, address: string): Disposable {
    const key = keyOf(local);
    this.#addresses.set(key, address);
    return { [Symbol.dispose]: () => void this.#addresses.delete(key) };
  }

  /**
   * Returns the address for which a connection to the port is: that of its peer, unless a part of this process
   * has said another.
   */
  addressOf(peer: Endpoint): string {
    return this.#addresses.get(keyOf(peer)) ?? peer.address;
  }
}

function keyOf({ address, port }: Endpoint): string {
  return `${address.replace(/^::ffff:/i, '')} ${port}`;
}
