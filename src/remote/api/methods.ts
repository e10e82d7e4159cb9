import type { FastifyInstance } from 'fastify';

interface PathMethods {
  readonly path: RegExp;
  readonly methods: readonly string[];
}

/**
 * Records the routes of an application, to look up the methods of a path. Create it before the first route.
 */
export class Methods {
  readonly #routes: PathMethods[] = [];

  constructor(app: FastifyInstance) {
    app.addHook('onRoute', ({ url, method }) => {
      this.#routes.push({ path: pathPattern(url), methods: [method].flat() });
    });
  }

  /** The methods of the path of `url`, each once and sorted; empty if there is no such path. */
  of(url: string): string[] {
    const [path = ''] = url.split('?');
    const methods = this.#routes.filter((route) => route.path.test(path)).flatMap((route) => route.methods);
    return [...new Set(methods)].sort();
  }
}

/** A pattern for the paths of a route such as `/lines/:name/start`. */
function pathPattern(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (part === '*') return '.*';
    return part.startsWith(':') ? '[^/]+' : part.replaceAll('.', '\\.');
  });
  return new RegExp(`^${parts.join('/')}$`);
}
