import type { Logger } from '../../host/index.js';
import type { Broker } from '../broker.js';
import type { FacetLimits } from './facets.js';
import type { Page } from './layout.js';

/** Context of the routes. */
export interface RouteContext {
  readonly broker: Broker;
  readonly brokerAddress: { readonly host: string; readonly port: number };
  readonly log: Logger;
  readonly facets?: FacetLimits;
}

/** A page and its status. */
export interface PageReply extends Page {
  readonly status: number;
}
