// Serves style sheets, scripts, icons and pictures.
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { FastifyInstance } from 'fastify';

/** A file of the package and the path under which browsers load it. */
export interface Asset {
  readonly path: string;
  /** Specifier of the file, e.g. `#web-assets/style.css`; its extension gives the media type. */
  readonly file: `#${string}-assets/${string}`;
}

const TYPES: ReadonlyMap<string, string> = new Map([
  ['.css', 'text/css; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.png', 'image/png'],
  ['.svg', 'image/svg+xml'],
]);

/** Serves the files from memory. Browsers may keep them for an hour. */
export async function addAssets(app: FastifyInstance, assets: readonly Asset[]): Promise<void> {
  for (const { path, file } of assets) {
    const content = await readFile(new URL(import.meta.resolve(file)));
    const type = TYPES.get(extname(file));
    if (type === undefined) throw new TypeError(`no media type for ${file}`);
    app.get(path, { exposeHeadRoute: true }, (_request, reply) =>
      reply.type(type).header('cache-control', 'max-age=3600').send(content),
    );
  }
}
