import type { IncomingMessage, ServerResponse } from 'node:http';
import type { App } from '../context.ts';

export async function answerFile(
  _app: App,
  _request: IncomingMessage,
  _response: ServerResponse,
  _key: string,
): Promise<boolean> {
  return false;
}
