// Loaded before `node:test`, which attributes uncaught errors to tests with async hooks. These track every promise, which
// takes a seventh of a test file's CPU time; AsyncLocalStorage does the same at almost no cost.
import asyncHooks, { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';

type Callbacks = Required<Pick<asyncHooks.HookCallbacks, 'init' | 'destroy'>>;

const current = new AsyncLocalStorage<number>();
const known = new Set<number>();
let callbacks: Callbacks | undefined;

/** The resource that `node:test` creates per test. Code that runs in it, and everything that code starts, finds the test's id. */
class TestResource extends AsyncResource {
  constructor(type: string, options?: asyncHooks.AsyncResourceOptions) {
    super(type, options);
    const id = this.asyncId();
    known.add(id);
    callbacks?.init(id, type, this.triggerAsyncId(), this);
  }

  override runInAsyncScope<This, Result>(run: (this: This, ...args: unknown[]) => Result, self?: This): Result;
  override runInAsyncScope(run: (...args: unknown[]) => unknown, ...[self, ...args]: unknown[]): unknown {
    // Inside, because a resource returns to the context in which it was created.
    return super.runInAsyncScope(() => current.run(this.asyncId(), () => Reflect.apply(run, self, args)));
  }
}

/** The hooks of one file; they receive only tests. */
function createHook(given: asyncHooks.HookCallbacks): Pick<asyncHooks.AsyncHook, 'enable' | 'disable'> {
  const disable = () => {
    for (const id of known) callbacks?.destroy(id);
    known.clear();
  };
  callbacks = given as Callbacks;
  return { enable: () => undefined as never, disable: disable as never };
}

const executionAsyncId = () => current.getStore() ?? -1;

const replaced = { AsyncResource: TestResource, createHook, executionAsyncId };
const original = Object.fromEntries(
  Object.keys(replaced).map((name) => [name, asyncHooks[name as keyof typeof replaced]]),
);
// Only while `node:test` is loaded, so that nothing else gets these.
Object.assign(asyncHooks, replaced);
await import('node:test');
Object.assign(asyncHooks, original);
