import type { Clock } from '../../../protocols/clock.js';
import type { Certificate, Logger } from '../../host/index.js';
import type { Broker } from '../broker.js';
import type { FacetLimits } from './facets.js';
import type { Gathering } from './gathering.js';
import type { Page } from './layout.js';

/** Context of the routes. */
export interface RouteContext {
  readonly broker: Broker;
  readonly brokerAddress: { readonly host: string; readonly port: number };
  /** The certificate of the Broker's port, if it has TLS. */
  readonly portCertificate?: Pick<Certificate, 'fingerprint'> | undefined;
  /**
   * The certificate of `References-Server`, if it is one of this process and has TLS. Default: one that is
   * trusted here.
   */
  readonly referencesCertificate?: Pick<Certificate, 'fingerprint'> | undefined;
  readonly log: Logger;
  /** The clock of the limits of time. Default: that of this process. */
  readonly clock?: Clock | undefined;
  readonly facets?: FacetLimits;
  /**
   * Objects that all results in memory together list; further queries wait, of the client with the fewest first.
   * Default 20 000, which take some 60 MB.
   */
  readonly maxListed?: number;
  /**
   * What precedes the paths of the pages in their links, without a final slash. Default: that of the Broker's
   * `Public-URL`.
   */
  readonly base?: string;
  /**
   * Returns the address at which the visitor's browser opens the document of a URL, if it is not the URL
   * itself. Default: every document is at its URL.
   */
  readonly addressOf?: ((url: string) => string | undefined) | undefined;
  /** The run that gathers for this broker in the same process; undefined while nothing is gathered. */
  readonly gathering?: (() => Gathering | undefined) | undefined;
}

/** A page and its status. */
export interface PageReply extends Page {
  readonly status: number;
}
