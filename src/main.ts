import { flushCompileCache } from 'node:module';
import about from '../package.json' with { type: 'json' };
import { type Command, columns, misuse, PROGRAM, show } from './commands/command.ts';
import { failureOf } from './commands/failure.ts';

/** Loaded when asked for: a command starts without the parts that only others need. */
const COMMANDS: Record<string, () => Promise<{ default: Command }>> = {
  serve: () => import('./commands/serve.ts'),
  work: () => import('./commands/work.ts'),
  migrate: () => import('./commands/migrate.ts'),
  'user add': () => import('./commands/user-add.ts'),
  'user unguard': () => import('./commands/user-unguard.ts'),
  'game add': () => import('./commands/game-add.ts'),
  'game set': () => import('./commands/game-set.ts'),
  'token add': () => import('./commands/token-add.ts'),
  'client add': () => import('./commands/client-add.ts'),
  'portal set': () => import('./commands/portal-set.ts'),
  'staff list': () => import('./commands/staff-list.ts'),
  'staff set': () => import('./commands/staff-set.ts'),
  'staff remove': () => import('./commands/staff-remove.ts'),
  'ban add': () => import('./commands/ban-add.ts'),
  'ban list': () => import('./commands/ban-list.ts'),
  'ban lift': () => import('./commands/ban-lift.ts'),
  scan: () => import('./commands/scan.ts'),
  'cook-runner': () => import('./commands/cook-runner.ts'),
  'demo fill': () => import('./commands/demo-fill.ts'),
  demo: () => import('./commands/demo.ts'),
  'storage check': () => import('./commands/storage-check.ts'),
  backup: () => import('./commands/backup.ts'),
  restore: () => import('./commands/restore.ts'),
  'audit verify': () => import('./commands/audit-verify.ts'),
  doctor: () => import('./commands/doctor.ts'),
};

async function main(args: readonly string[]): Promise<number> {
  const [first, second] = args;
  if (first === '--version' || first === '-v') return show(about.version);
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') return show(await overview());
  const name = [`${first} ${second}`, first].find((words) => Object.hasOwn(COMMANDS, words));
  if (name === undefined) throw misuse(unknown(first, second));
  const { default: command } = await COMMANDS[name]!();
  return command.run(args.slice(name.split(' ').length));
}

async function overview(): Promise<string> {
  const commands = await Promise.all(Object.values(COMMANDS).map(async (load) => (await load()).default));
  const lines = commands.map(({ name, usage, says }) => [`${name} ${usage}`, says.split('\n')[0]!] as const);
  return `${PROGRAM} COMMAND [options]

${about.description}

${lines.map(([usage, says]) => `  ${usage}\n      ${says}`).join('\n')}

Every command takes

${columns([
  ['--sandbox', 'to act on the sandbox instead of production'],
  ['--json', 'to print one JSON object and nothing else, where it returns data'],
  ['--help', 'to say more about itself'],
])}

Settings are environment variables; the README lists them.`;
}

function unknown(first: string, second: string | undefined): string {
  const group = Object.keys(COMMANDS).filter((name) => name.startsWith(`${first} `));
  const help = `"${PROGRAM} --help" lists the commands.`;
  if (group.length === 0) return `There is no command "${first}"; ${help}`;
  return second === undefined || second.startsWith('-')
    ? `"${first}" needs a word more: ${group.join(', ')}; ${help}`
    : `There is no command "${first} ${second}"; ${help}`;
}

try {
  process.exitCode = await main(process.argv.slice(2));
  flushCompileCache();
} catch (error) {
  const { text, exitCode } = failureOf(error);
  process.stderr.write(`${text}\n`);
  // What was opened before the failure must not keep the process.
  process.exit(exitCode);
}
