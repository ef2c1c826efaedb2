import findMyWay from 'find-my-way';
import type { AnyOperation, Method } from './operation.ts';

export interface Match {
  readonly operation: AnyOperation;
  readonly params: Record<string, string>;
}

export interface Router {
  find(method: string, path: string): Match | undefined;
  /** The methods of a path; empty when nothing is there. */
  allowed(path: string): readonly string[];
}

const METHODS: Method[] = ['GET', 'POST', 'PUT', 'DELETE'];

const routers = new WeakMap<readonly AnyOperation[], Router>();

/** Services in one process share it, because building it compiles code for each piece of a path. */
export function routerOf(operations: readonly AnyOperation[]): Router {
  const router = routers.get(operations) ?? createRouter(operations);
  routers.set(operations, router);
  return router;
}

function createRouter(operations: readonly AnyOperation[]): Router {
  const router = findMyWay({
    ignoreTrailingSlash: true,
    caseSensitive: true,
    maxParamLength: 200,
    onBadUrl: () => undefined,
  });
  for (const operation of operations) {
    const { method, path } = operation.declaration;
    router.on(method, path.replace(/\{(\w+)\}/g, ':$1'), () => undefined, operation);
  }
  const find = (method: Method, path: string): Match | undefined => {
    const found = router.find(method, path);
    if (!found?.store) return undefined;
    return { operation: found.store as AnyOperation, params: found.params as Record<string, string> };
  };
  return {
    find: (method, path) => find(method as Method, path),
    allowed(path) {
      const methods = METHODS.filter((method) => find(method, path));
      if (methods.length === 0) return methods;
      return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
    },
  };
}
