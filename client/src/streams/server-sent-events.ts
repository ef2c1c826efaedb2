/** An event of a `text/event-stream`, as the HTML standard defines it. */
export interface ServerSentEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

interface Reading {
  /** The id of the last event, which a later stream continues after. */
  lastId: string;
  /** How long the server asks to wait before the next connection. */
  retryMs: number;
}

/** Reads the events of a body, and keeps what the next connection needs in `reading`. */
export async function* serverSentEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  reading: Reading,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  let fields = new Map<string, string>();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const lines = (text + next.value).split(/\r\n|\n|\r(?!$)/);
      text = lines.pop()!;
      for (const line of lines) {
        if (line !== '') {
          addField(fields, line, reading);
          continue;
        }
        const data = fields.get('data');
        if (data !== undefined) yield { id: reading.lastId, event: fields.get('event') ?? 'message', data };
        fields = new Map();
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function addField(fields: Map<string, string>, line: string, reading: Reading): void {
  const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
  if (name === 'data') fields.set(name, fields.has(name) ? `${fields.get(name)}\n${value}` : value);
  else if (name === 'event') fields.set(name, value);
  else if (name === 'id') reading.lastId = value;
  else if (name === 'retry' && /^\d+$/.test(value)) reading.retryMs = Number(value);
}
