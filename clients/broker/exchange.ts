import { type ConnectionOptions, exchange } from '../connection/index.js';

/** Does one {@link exchange} with a Broker. Its errors name the Broker and the usual port. */
export function exchangeWithBroker(
  request: Uint8Array,
  options: Omit<ConnectionOptions, 'name' | 'hints'>,
): AsyncGenerator<Uint8Array> {
  const { host, port } = options;
  const hints = { ECONNREFUSED: 'a Broker listens on 8501 unless Broker-Port says otherwise' };
  return exchange(request, { ...options, name: `broker at ${host}:${port}`, hints });
}
