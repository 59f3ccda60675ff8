// Objects for Brokers under attack.
import { decodeSoif } from '../../protocols/soif/index.js';
import type { Broker } from '../../servers/broker/index.js';
import { document } from '../servers/broker/helpers.js';

/** Stores and indexes objects with these attributes; their URLs are `http://www.example.org/0` and so on. */
export async function fillBroker(
  broker: Broker,
  count: number,
  attributesOf: (i: number) => Readonly<Record<string, string>>,
): Promise<void> {
  const changes = Array.from({ length: count }, (_, i) => {
    const bytes = Buffer.from(document(`http://www.example.org/${i}`, attributesOf(i)));
    return { kind: 'update' as const, object: decodeSoif(bytes), bytes };
  });
  await broker.store.apply(changes);
  await broker.keeper.settle();
}
