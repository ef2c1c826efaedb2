/** A request with a span of its own. */
export interface TracedRequest {
  readonly traceId: string;
  end(operationId: string, status: number): void;
}

/** Traces and metrics for an OpenTelemetry collector. Absent unless a collector is configured. */
export interface Telemetry {
  /** Runs the work in a span that continues the trace of `traceparent`; `started` is a time of `performance.now()`. */
  trace(traceparent: string | undefined, started: number, work: (request: TracedRequest) => void): void;
  count(operationId: string, status: number, seconds: number): void;
  /** Headers with which another server continues the current trace. */
  headers(): Record<string, string>;
  /** Sends what is left. */
  stop(): Promise<void>;
}

export interface TelemetryOptions {
  /** The collector, such as `http://127.0.0.1:4318`. */
  readonly url: string;
  /** The share of traces that are recorded, if the client does not decide. */
  readonly share: number;
  readonly version: string;
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/;

/** The trace that the client has started, for log lines. */
export const traceIdOf = (traceparent: unknown): string | undefined =>
  typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined;
