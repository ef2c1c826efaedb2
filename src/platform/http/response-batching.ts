import type { ServerResponse } from 'node:http';
import { transferScheduler } from './transfer-scheduler.ts';

type Encoding = 'utf8' | 'latin1';

const BATCH_MAX = 64;
/** Sending more takes longer than waking the client. */
const BATCHED_LENGTH_MAX = 65_536;

interface Waiting {
  readonly response: ServerResponse;
  readonly body: string | Buffer;
  readonly encoding: Encoding;
}
const waiting: Waiting[] = [];

/**
 * Sends the short responses of one event-loop tick together, because waking a waiting client process costs more than
 * the response itself. During transfers each response is sent at once, since chunks run before the end of the tick.
 */
export function sendBatched(response: ServerResponse, body: string | Buffer, encoding: Encoding = 'utf8'): void {
  if (body.length > BATCHED_LENGTH_MAX || transferScheduler.isTransferring) return void response.end(body, encoding);
  waiting.push({ response, body, encoding });
  if (waiting.length === 1) setImmediate(flush);
  else if (waiting.length === BATCH_MAX) flush();
}

function flush(): void {
  for (const { response, body, encoding } of waiting.splice(0)) response.end(body, encoding);
}
