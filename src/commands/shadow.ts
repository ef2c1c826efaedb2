import { command, misuse } from './invocation/command.ts';

export default command({
  name: 'shadow',
  usage: '--old URL --new URL --listen PORT [--new-key KEY]',
  says: `Forwards a game's traffic to the old service unchanged, and compares its reads with this one.
Clients get the old service's bytes and never wait for the new one. Reads are repeated at the new service afterwards; writes are
never sent there. The report lists differences by operation and field: a studio switches when it is empty. Hosts, signatures and
expiry dates differ always and are not compared. Keys, tokens and bodies of requests are neither logged nor stored.
It runs until it is interrupted, and exits with 1 if there were differences. docs/shadow.md describes it.`,
  json: true,
  standalone: true,
  options: {
    old: { type: 'string', value: 'URL', says: 'the service that answers, such as https://g-1.modapi.io' },
    new: { type: 'string', value: 'URL', says: 'the service to compare, such as https://mods.example.com' },
    listen: {
      type: 'string',
      value: 'PORT',
      says: 'where clients connect: PORT or HOST:PORT (default host: 127.0.0.1)',
    },
    'new-key': { type: 'string', value: 'KEY', says: 'the API key for the new service; better in MODSTEAD_API_KEY' },
    ignore: {
      type: 'string',
      value: 'FIELD',
      multiple: true,
      says: 'a field that is not compared, such as stats.downloads_today',
    },
    parallel: { type: 'string', value: 'NUMBER', says: 'reads of the new service at the same time (default: 4)' },
    report: {
      type: 'string',
      value: 'FILE',
      says: 'writes the report there as JSON, every ten seconds and at the end',
    },
  },
  run: async ({ values, env }) => {
    for (const name of ['old', 'new'] as const)
      if (values[name] === undefined || !/^https?:/.test(values[name]))
        throw misuse(`"shadow" needs --${name}, the address of the ${name} service.`);
    const { runShadow } = await import('./shadowing/run.ts');
    return runShadow({ values: { ...values, old: values.old!, new: values.new! }, env });
  },
});
