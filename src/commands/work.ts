import { command } from './invocation/command.ts';
import { requireMigrated } from './operator.ts';
import { untilStopped } from './signals.ts';

export default command({
  name: 'work',
  usage: '',
  says: `Runs the background jobs of production and sandbox until SIGTERM or Ctrl-C.

"serve" runs them too unless MODSTEAD_JOBS is off. With --sandbox it runs only those of the sandbox.`,
  json: false,
  options: {},
  run: async ({ sandbox, ...invocation }) => {
    const settings = invocation.settings();
    const { closeApp, composeApp, composeWorker, ENVIRONMENTS, outsideOf } = await import('../composition/compose.ts');
    const { requireOwnSessions } = await import('../platform/database/postgres-pooler.ts');
    if (settings.databaseUrl) await requireOwnSessions(settings.databaseUrl);
    const outside = outsideOf(settings);
    const environments = sandbox ? (['sandbox'] as const) : ENVIRONMENTS;
    const apps = await Promise.all(environments.map((environment) => composeApp(settings, environment, outside)));
    for (const app of apps) await requireMigrated(app);
    const workers = apps.map((app) => composeWorker(app));
    for (const worker of workers) worker.start();
    const stopped = untilStopped();
    invocation.show(`running the jobs of ${environments.join(' and ')}`);
    const signal = await stopped;
    process.stderr.write(`${signal}: finishing jobs in progress\n`);
    await Promise.all(workers.map((worker) => worker.stop()));
    for (const app of apps) await closeApp(app);
    outside.log.flush();
    process.exit(0);
  },
});
