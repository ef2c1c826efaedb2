import {
  defaultTextMapSetter,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import type { Telemetry, TelemetryOptions } from './telemetry.ts';

const SPANS_MS = 1_000;
const METRICS_MS = 15_000;
const BOUNDARIES = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];

/** Reads the one header that is passed as the carrier. */
const getter: TextMapGetter<string | undefined> = {
  keys: () => ['traceparent'],
  get: (carrier, key) => (key === 'traceparent' ? carrier : undefined),
};

/** Nothing is registered globally, so several services in one process do not mix. */
export function openTelemetry({ url, share, version }: TelemetryOptions): Telemetry {
  const resource = resourceFromAttributes({
    'service.name': 'modstead',
    'service.version': version,
    'service.instance.id': `${process.pid}`,
  });
  const traces = new BasicTracerProvider({
    resource,
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(share) }),
    spanProcessors: [
      new BatchSpanProcessor(new OTLPTraceExporter({ url: `${url}/v1/traces` }), { scheduledDelayMillis: SPANS_MS }),
    ],
  });
  const metrics = new MeterProvider({
    resource,
    readers: [
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter({ url: `${url}/v1/metrics` }),
        exportIntervalMillis: METRICS_MS,
      }),
    ],
  });
  const meter = metrics.getMeter('modstead');
  const durations = meter.createHistogram('http.server.request.duration', {
    unit: 's',
    advice: { explicitBucketBoundaries: BOUNDARIES },
  });
  meter
    .createObservableGauge('process.memory.usage', { unit: 'By' })
    .addCallback((result) => result.observe(process.memoryUsage.rss()));
  const tracer = traces.getTracer('modstead');
  const contexts = new AsyncLocalStorageContextManager().enable();
  const propagator = new W3CTraceContextPropagator();
  return {
    trace: (traceparent, startTime, work) => {
      const parent = propagator.extract(ROOT_CONTEXT, traceparent, getter);
      const span = tracer.startSpan('request', { kind: SpanKind.SERVER, startTime }, parent);
      const end = (operationId: string, status: number) => {
        span.updateName(operationId);
        span.setAttributes({ 'modstead.operation': operationId, 'http.response.status_code': status });
        if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      };
      contexts.with(trace.setSpan(parent, span), () => work({ traceId: span.spanContext().traceId, end }));
    },
    count: (operationId, status, seconds) =>
      durations.record(seconds, { 'modstead.operation': operationId, 'http.response.status_code': status }),
    headers: () => {
      const carrier: Record<string, string> = {};
      propagator.inject(contexts.active(), carrier, defaultTextMapSetter);
      return carrier;
    },
    stop: async () => {
      // A collector that is away must not keep the service from stopping.
      await Promise.allSettled([traces.shutdown(), metrics.shutdown()]);
      contexts.disable();
    },
  };
}
