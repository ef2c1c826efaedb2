import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { composeService, outsideOf, type Service } from '../composition/compose.ts';
import type { Environment } from '../platform/config/addresses.ts';
import type { Settings } from '../platform/config/settings.ts';
import type { Siblings } from '../platform/runtime/siblings.ts';
import { scrubDatabase } from '../studio/service/scrubbing.ts';
import { addDemoTo, type DemoState } from './demo.ts';
import { builtSite } from './site-build.ts';

/** Starts the service in this process. */
export async function startServing(
  settings: Settings,
  demoIn: Environment | undefined,
  supervised?: { readonly siblings: Siblings; readonly listenFds: readonly number[] },
): Promise<{ service: Service; demo: DemoState | undefined }> {
  if (settings.databaseUrl) {
    const { requireOwnSessions } = await import('../platform/database/postgres-pooler.ts');
    await requireOwnSessions(settings.databaseUrl);
  }
  const demo = demoIn && (await addDemoTo(settings, demoIn));
  const outside = { ...outsideOf(settings), ...(supervised && { siblings: supervised.siblings }) };
  const service = await composeService(settings, outside, {
    site: builtSite(),
    ...(supervised && { listenFds: supervised.listenFds }),
  });
  setImmediate(() => {
    flushCompileCache();
    releaseMemory();
    for (const app of Object.values(service.apps))
      void scrubDatabase(app).catch((error: unknown) => app.log.warn('the database could not be scrubbed', { error }));
  });
  return { service, demo };
}

/** Loading and compiling the program takes a third of its memory, which V8 would not release by itself. */
function releaseMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (how: object) => void;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
