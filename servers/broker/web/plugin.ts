// The pages of a broker as a plugin, for an application of one's own.
import type { FastifyInstance } from 'fastify';
import { addApplication } from '../../web/application.js';
import type { RouteContext } from './route-context.js';
import { BrokerPages } from './routes.js';
import { pagesParts } from './server.js';

/** Options of {@link brokerPages}. */
export type BrokerPagesOptions = Omit<RouteContext, 'base'>;

/**
 * A plugin of fastify with the pages of a broker: `app.register(brokerPages, { prefix: '/search', broker, brokerAddress, log })`. Its links
 * have the prefix; hooks, logins and TLS are those of the application, and so is the check of the `Host` that requests name. Results name the
 * address in `Public-URL` of the broker's configuration.
 */
export async function brokerPages(app: FastifyInstance, options: BrokerPagesOptions): Promise<void> {
  const context = { ...options, base: app.prefix.replace(/\/$/, '') };
  const pages = await BrokerPages.open(context);
  app.addHook('onClose', () => pages.results[Symbol.asyncDispose]());
  await addApplication(app, pagesParts(context, pages));
}
