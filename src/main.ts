import { flushCompileCache } from 'node:module';
import { failureOf } from './commands/failure.ts';
import { runCommand } from './commands/run.ts';

const { env } = process;

try {
  process.exitCode = await runCommand(process.argv.slice(2), { env, out: (text) => void process.stdout.write(text) });
  flushCompileCache();
} catch (error) {
  const { text, exitCode } = failureOf(error, env);
  process.stderr.write(`${text}\n`);
  // What was opened before the failure must not keep the process.
  process.exit(exitCode);
}
