import { flushCompileCache } from 'node:module';
import { Refusal } from './commands/invocation/command.ts';
import { runCommand } from './commands/run.ts';

const { env } = process;

try {
  process.exitCode = await runCommand(process.argv.slice(2), {
    env,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
  });
  flushCompileCache();
} catch (error) {
  // Loaded only here, because it loads the code of the database.
  const { text, exitCode } =
    error instanceof Refusal
      ? { text: error.message, exitCode: error.exitCode }
      : (await import('./commands/failure.ts')).failureOf(error, env);
  process.stderr.write(`${text}\n`);
  // What was opened before the failure must not keep the process.
  process.exit(exitCode);
}
