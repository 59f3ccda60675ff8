export {
  type GatherdChange,
  GatherdClient,
  type GatherdClientConnectOptions,
  type GatherdWarning,
  type UpdateRequest,
} from './client.js';
