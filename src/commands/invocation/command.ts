import { parseArgs } from 'node:util';
import type { Environment } from '../../platform/config/addresses.ts';
import type { Settings } from '../../platform/config/settings.ts';

/** An expected failure. Its message is the sentence that the operator reads. */
export class Refusal extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** An error in the command line itself. */
export const misuse = (message: string): Refusal => new Refusal(message, 2);

interface Option {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  readonly required?: boolean;
  /** The name of the value in the help. */
  readonly value?: string;
  readonly says: string;
}

type Options = Readonly<Record<string, Option>>;

type ValueOf<O extends Option> = O extends { type: 'boolean' }
  ? boolean
  : O extends { multiple: true }
    ? string[]
    : O extends { required: true }
      ? string
      : string | undefined;

/** The environment and the output of a command: the process's own, or those of a test. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv;
  out(text: string): void;
}

export interface Invocation<O extends Options> {
  readonly values: { readonly [K in keyof O]: ValueOf<O[K]> };
  readonly positionals: readonly string[];
  readonly sandbox: boolean;
  readonly environment: Environment;
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
  /** Throws a SettingError if a setting is invalid. */
  settings(): Settings;
  /** Prints a line while the command runs. */
  show(text: string): void;
}

interface Result {
  /** What `--json` prints. */
  readonly object: object;
  readonly text: string;
  readonly exitCode?: number;
}

export interface Declaration<O extends Options> {
  readonly name: string;
  /** What follows the name on the command line. */
  readonly usage: string;
  readonly says: string;
  readonly options: O;
  readonly positionals?: boolean;
  /** For those who have no service: it reads no settings, and runs without the dependencies of the service. */
  readonly standalone?: boolean;
  /** Whether it returns data and therefore accepts `--json`. */
  readonly json: boolean;
  run(invocation: Invocation<O>): Promise<Result | undefined>;
}

export interface Command {
  readonly name: string;
  readonly usage: string;
  readonly says: string;
  /** What `--help` prints. */
  readonly help: string;
  /** Resolves to the exit code. */
  run(args: readonly string[], terminal: Terminal): Promise<number>;
}

export const PROGRAM = 'npx modstead';

export function command<const O extends Options>(declaration: Declaration<O>): Command {
  const { name, usage, says } = declaration;
  const options = { ...declaration.options, ...commonOptions(declaration.json) };
  const help = helpOf(declaration, options);
  const run = async (args: readonly string[], terminal: Terminal) => {
    const { values, positionals } = parse(declaration, options, args);
    if (values['help']) return show(terminal, help);
    requireValues(declaration, values);
    const settings = declaration.standalone ? noSettings : await settingsReader(terminal.env);
    const result = await declaration.run({
      values: values as Invocation<O>['values'],
      positionals,
      sandbox: values['sandbox'] === true,
      environment: values['sandbox'] ? 'sandbox' : 'production',
      json: values['json'] === true,
      env: terminal.env,
      settings,
      show: (text) => show(terminal, text),
    });
    if (result) show(terminal, values['json'] ? JSON.stringify(result.object) : result.text);
    return result?.exitCode ?? 0;
  };
  return { name, usage, says, help, run };
}

async function settingsReader(env: NodeJS.ProcessEnv): Promise<() => Settings> {
  const { readSettings } = await import('../../platform/config/settings.ts');
  return () => readSettings(env);
}

function noSettings(): never {
  throw new TypeError('A standalone command has no settings.');
}

export function show(terminal: Terminal, text: string): 0 {
  terminal.out(`${text}\n`);
  return 0;
}

function commonOptions(json: boolean): Options {
  return {
    sandbox: { type: 'boolean', says: 'act on the sandbox instead of production' },
    ...(json && { json: { type: 'boolean', says: 'print one JSON object and nothing else' } }),
    help: { type: 'boolean', says: 'print this' },
  };
}

type Parsed = { values: Record<string, unknown>; positionals: string[] };

function parse(declaration: Declaration<Options>, options: Options, args: readonly string[]): Parsed {
  const config = Object.fromEntries(
    Object.entries(options).map(([name, { type, multiple }]) => [name, { type, multiple: multiple ?? false }]),
  );
  try {
    const { values, positionals, tokens } = parseArgs({
      args: [...args],
      options: config,
      allowPositionals: true,
      tokens: true,
    });
    const seen = new Set<string>();
    for (const token of tokens) {
      if (token.kind !== 'option' || config[token.name]?.multiple) continue;
      // The last value would win silently, which hides typing mistakes.
      if (seen.has(token.name)) throw misuse(`--${token.name} is given twice; ${hint(declaration)}`);
      seen.add(token.name);
    }
    const [stray] = positionals;
    if (stray !== undefined && !declaration.positionals)
      throw misuse(`"${declaration.name}" takes no "${stray}"; ${hint(declaration)}`);
    return { values, positionals };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw misuse(`${sentenceOf(error, declaration)}; ${hint(declaration)}`);
  }
}

const hint = ({ name }: { name: string }) => `"${PROGRAM} ${name} --help" shows what it takes.`;

function sentenceOf(error: Error & { code?: string }, { name }: Declaration<Options>): string {
  const option = /'(-[^' ]*)/.exec(error.message)?.[1] ?? '';
  if (error.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `"${name}" has no option ${option}`;
  return error.message.includes('does not take an argument') ? `${option} takes no value` : `${option} needs a value`;
}

function requireValues(declaration: Declaration<Options>, values: Record<string, unknown>): void {
  const missing = Object.entries(declaration.options)
    .filter(([name, { required }]) => required && !values[name])
    .map(([name]) => `--${name}`);
  if (missing.length > 0) throw misuse(`"${declaration.name}" needs ${missing.join(' and ')}; ${hint(declaration)}`);
  for (const [name, { type, multiple }] of Object.entries(declaration.options)) {
    if (type === 'boolean') values[name] ??= false;
    else if (multiple) values[name] ??= [];
  }
}

function helpOf({ name, usage, says }: Declaration<Options>, options: Options): string {
  const lines = Object.entries(options).map(
    ([option, { value, says }]) => [`--${option}${value ? ` ${value}` : ''}`, says] as const,
  );
  return `${[PROGRAM, name, usage].filter(Boolean).join(' ')}\n\n${says}\n\n${columns(lines)}`;
}

/** Formats pairs as two indented columns. */
export function columns(pairs: readonly (readonly [string, string])[]): string {
  const width = Math.max(...pairs.map(([left]) => left.length)) + 2;
  return pairs.map(([left, right]) => `  ${left.padEnd(width)}${right}`.trimEnd()).join('\n');
}

/** Parses an id; the error names the option. */
export function idOf(text: string, option: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw misuse(`${option} must be an id, a whole number above 0, not "${text}".`);
  return Number(text);
}
