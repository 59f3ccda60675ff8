import { type ConnectionOptions, exchange } from '../connection/index.js';

/** {@link exchange} with a Broker: its errors say how a Broker is reached. */
export function exchangeWithBroker(
  request: Uint8Array,
  options: Omit<ConnectionOptions, 'name' | 'hints'>,
): AsyncGenerator<Uint8Array> {
  const { host, port } = options;
  const hints = { ECONNREFUSED: 'a Broker listens on 8501 unless Broker-Port says otherwise' };
  return exchange(request, { ...options, name: `broker at ${host}:${port}`, hints });
}
