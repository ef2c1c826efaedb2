import about from '../../package.json' with { type: 'json' };
import { COMMANDS, loadCommands } from './commands.ts';
import { columns, misuse, PROGRAM, show, type Terminal } from './invocation/command.ts';

/** Runs the command with these arguments, and resolves to the exit code. */
export async function runCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const [first, second] = args;
  if (first === '--version' || first === '-v') return show(terminal, about.version);
  if (first === undefined || first === '--help' || first === '-h' || first === 'help')
    return show(terminal, await overview());
  const name = [`${first} ${second}`, first].find((words) => Object.hasOwn(COMMANDS, words));
  if (name === undefined) throw misuse(unknown(first, second));
  const { default: command } = await COMMANDS[name]!();
  return command.run(args.slice(name.split(' ').length), terminal);
}

async function overview(): Promise<string> {
  const lines = (await loadCommands()).map(
    ({ name, usage, says }) => [`${name} ${usage}`, says.split('\n')[0]!] as const,
  );
  return `${PROGRAM} COMMAND [options]

${about.description}

${lines.map(([usage, says]) => `  ${usage}\n      ${says}`).join('\n')}

Every command takes

${columns([
  ['--sandbox', 'act on the sandbox instead of production'],
  ['--json', 'print one JSON object and nothing else, if the command returns data'],
  ['--help', 'print its help'],
])}

Settings are environment variables; docs/settings.md lists them.`;
}

function unknown(first: string, second: string | undefined): string {
  const group = Object.keys(COMMANDS).filter((name) => name.startsWith(`${first} `));
  const help = `"${PROGRAM} --help" lists the commands.`;
  if (group.length === 0) return `There is no command "${first}"; ${help}`;
  return second === undefined || second.startsWith('-')
    ? `"${first}" needs a subcommand: ${group.join(', ')}; ${help}`
    : `There is no command "${first} ${second}"; ${help}`;
}
