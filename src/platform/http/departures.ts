import type { ServerResponse } from 'node:http';
import { rightOfWay } from './right-of-way.ts';

const TOGETHER_MAX = 64;
const waiting: { readonly response: ServerResponse; readonly text: string }[] = [];

/**
 * Short answers that one turn of the event loop brings leave together at its end. One that leaves alone wakes whoever
 * waits for it, and to wake a process costs this one more than the answer; the next ones find it awake. Beside transfers
 * each leaves at once, as their pieces come before the end of the turn.
 */
export function depart(response: ServerResponse, text: string): void {
  if (rightOfWay.isMoving) return void response.end(text);
  waiting.push({ response, text });
  if (waiting.length === 1) setImmediate(departAll);
  else if (waiting.length === TOGETHER_MAX) departAll();
}

function departAll(): void {
  for (const { response, text } of waiting.splice(0)) response.end(text);
}
