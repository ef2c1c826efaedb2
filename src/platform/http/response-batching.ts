import type { ServerResponse } from 'node:http';
import { transferScheduler } from './transfer-scheduler.ts';

type Encoding = 'utf8' | 'latin1';

const BATCH_MAX = 64;
const waiting: { readonly response: ServerResponse; readonly text: string; readonly encoding: Encoding }[] = [];

/**
 * Sends the short responses of one event-loop tick together, because waking a waiting client process costs more than
 * the response itself. During transfers each response is sent at once, since chunks run before the end of the tick.
 */
export function sendBatched(response: ServerResponse, text: string, encoding: Encoding = 'utf8'): void {
  if (transferScheduler.isTransferring) return void response.end(text, encoding);
  waiting.push({ response, text, encoding });
  if (waiting.length === 1) setImmediate(flush);
  else if (waiting.length === BATCH_MAX) flush();
}

function flush(): void {
  for (const { response, text, encoding } of waiting.splice(0)) response.end(text, encoding);
}
