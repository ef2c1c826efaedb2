import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { failureOf } from '../src/commands/failure.ts';
import { runCommand } from '../src/commands/run.ts';
import type { Api } from './api.ts';

const PROGRAM = resolve('bin/modstead.mjs');
const cleanPath = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(MODSTEAD_|NODE_|LC_|LANG)/.test(name)),
);

/** The settings with which a command works on the data of a service. */
export function settingsOf(api: Api): NodeJS.ProcessEnv {
  const { databaseUrl, sandboxDatabaseUrl } = api.app().settings;
  return {
    MODSTEAD_DATA: api.folder,
    MODSTEAD_PUBLIC_PORT: '443',
    MODSTEAD_DOMAIN: 'localhost',
    MODSTEAD_LOG: 'off',
    ...api.storage,
    ...(databaseUrl && { MODSTEAD_DATABASE_URL: databaseUrl, MODSTEAD_SANDBOX_DATABASE_URL: sandboxDatabaseUrl! }),
  };
}

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a command in this process, because starting a process takes a second. */
export async function runHere(args: readonly string[], settings: NodeJS.ProcessEnv): Promise<Ended> {
  let [out, err] = ['', ''];
  const env = { ...cleanPath, ...settings };
  try {
    const code = await runCommand(args, {
      env,
      out: (text) => (out += text),
      err: (text) => (err += text),
    });
    return { code, out, err };
  } catch (error) {
    const { text, exitCode } = failureOf(error, env);
    return { code: exitCode, out, err: `${err}${text}\n` };
  }
}

/** Most of what a start allocates stays; with this young generation it is not copied again and again. */
export const START_OPTIONS = ['--min-semi-space-size=64', '--max-semi-space-size=64'];

/** Starts the program as an operator does, but in one process unless the settings want more. */
export const startProgram = (args: readonly string[], settings: NodeJS.ProcessEnv): ChildProcess =>
  spawn(process.execPath, [...START_OPTIONS, PROGRAM, ...args], {
    env: { ...cleanPath, MODSTEAD_PROCESSES: '1', ...settings },
  });

/** Waits for the end of a program, and returns its output and exit code. */
export function endOf(child: ChildProcess): Promise<Ended> {
  let [out, err] = ['', ''];
  child.stdout!.setEncoding('utf8').on('data', (text) => (out += text));
  child.stderr!.setEncoding('utf8').on('data', (text) => (err += text));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })));
}

export const runProgram = (args: readonly string[], settings: NodeJS.ProcessEnv): Promise<Ended> =>
  endOf(startProgram(args, settings));

/** Expects a refusal: sentences on standard error, and no other output. */
export function assertRefusal(ended: Ended, code: number, says: RegExp): void {
  assert.match(ended.err, says);
  assert.deepEqual(
    { code: ended.code, out: ended.out, lines: ended.err.trim().split('\n').length },
    { code, out: '', lines: 1 },
  );
}

/** The first line that a child prints; if it ends before, fails with its standard error. */
export async function firstLine(child: ChildProcess): Promise<string> {
  let [out, err] = ['', ''];
  child.stderr?.setEncoding('utf8').on('data', (text) => (err += text));
  return new Promise((resolve, reject) => {
    const look = (text: string) => {
      out += text;
      const end = out.indexOf('\n');
      if (end === -1) return;
      child.stdout?.off('data', look);
      resolve(out.slice(0, end));
    };
    child.stdout?.setEncoding('utf8').on('data', look);
    child.once('error', reject);
    child.once('close', (code, signal) => {
      const how = signal ?? `exit code ${code}`;
      reject(new Error(`the program ended (${how}) before it printed a line; standard error: ${err || '(empty)'}`));
    });
  });
}
