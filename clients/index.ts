// The entry point `harvest-kit`: the clients, with what their callers pass and receive. The other entry points
// of the package have the rest: codecs, servers, stores, conformance suites.
export {
  ConnectionError,
  KitError,
  PeerError,
  ProtocolError,
  RefusedError,
  UsageError,
} from '../protocols/errors.js';
export { decodeSoif, encodeSoif, SoifDecoder, SoifObject } from '../protocols/soif/index.js';
export { BrokerClient, type BrokerClientOptions, type BrokerHit, q } from './broker/index.js';
export { BulkClient, type BulkClientOptions, compareBrokers } from './bulk/index.js';
export {
  type CollectOptions,
  collectChanges,
  type GatherdChange,
  GatherdClient,
  type GatherdClientOptions,
} from './gatherd/index.js';
export { ReferencesClient, type ReferencesClientOptions } from './references/index.js';
