import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { createEgress } from '../egress/egress.ts';
import { openTelemetry } from './opentelemetry.ts';
import { traceIdOf } from './telemetry.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

interface Received {
  readonly path: string;
  readonly traceparent: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: the protocol's JSON.
  readonly body: any;
}

/** Speaks the collector's side of OTLP over HTTP. */
const received: Received[] = [];
const collector = createServer(async (request, response) => {
  const text = (await buffer(request)).toString();
  const traceparent = request.headers['traceparent'] as string | undefined;
  received.push({ path: request.url!, traceparent, body: text ? JSON.parse(text) : undefined });
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
});
await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
after(() => collector.close());
const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;

test('a request continues the client’s trace, and so do the requests that it makes', async () => {
  const telemetry = openTelemetry({ url, share: 0, version: '1.2.3' });
  const egress = createEgress({ allowPrivate: ['127.0.0.0/8'], headers: telemetry.headers });
  await new Promise<void>((resolve, reject) => {
    telemetry.trace(`00-${TRACE}-${SPAN}-01`, performance.now(), (request) => {
      assert.equal(request.traceId, TRACE);
      egress
        .fetch(`${url}/partner`)
        .then(() => request.end('get-games', 503))
        .then(resolve, reject);
    });
  });
  telemetry.count('get-games', 503, 0.2);
  assert.deepEqual(telemetry.headers(), {});
  await telemetry.stop();
  const { resourceSpans } = received.find(({ path }) => path === '/v1/traces')!.body;
  const [span] = resourceSpans[0].scopeSpans[0].spans;
  assert.deepEqual([span.name, span.traceId, span.parentSpanId, span.kind], ['get-games', TRACE, SPAN, 2]);
  assert.match(
    received.find(({ path }) => path === '/partner')!.traceparent!,
    new RegExp(`^00-${TRACE}-${span.spanId}-01$`),
  );
  const metrics = JSON.stringify(received.find(({ path }) => path === '/v1/metrics')!.body);
  for (const part of ['http.server.request.duration', 'get-games', '1.2.3', 'process.memory.usage'])
    assert.ok(metrics.includes(part), part);
});

test('requests that the share leaves out are not sent, and have an id nevertheless', async () => {
  received.length = 0;
  const telemetry = openTelemetry({ url, share: 0, version: '1.2.3' });
  telemetry.trace(undefined, performance.now(), (request) => {
    assert.match(request.traceId, /^[0-9a-f]{32}$/);
    request.end('get-games', 200);
  });
  await telemetry.stop();
  assert.deepEqual(
    received.filter(({ path }) => path === '/v1/traces'),
    [],
  );
});

test('a trace id is taken from a valid header alone', () => {
  assert.equal(traceIdOf(`00-${TRACE}-${SPAN}-01`), TRACE);
  for (const header of [undefined, '', TRACE, `00-${TRACE}`, `00-${TRACE.toUpperCase()}-${SPAN}-01`])
    assert.equal(traceIdOf(header), undefined);
});
