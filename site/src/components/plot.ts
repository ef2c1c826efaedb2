/** The geometry of a plot, in units of its view box. */
export const WIDTH = 600;
export const HEIGHT = 180;
const TOP = 16;
const BOTTOM = 22;
const START = 46;

export interface Series {
  readonly name: string;
  /** One per label. */
  readonly values: readonly number[];
}

export interface Geometry {
  readonly ticks: readonly { readonly value: number; readonly y: number }[];
  /** The labels that fit below the axis. */
  readonly labels: readonly {
    readonly text: string;
    readonly x: number;
    readonly anchor: 'start' | 'middle' | 'end';
  }[];
  readonly lines: readonly { readonly points: string; readonly area: string }[];
  readonly bars: readonly {
    readonly series: number;
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
  }[];
}

export const LEFT = START;

export function geometryOf(labels: readonly string[], series: readonly Series[]): Geometry {
  const top = niceMax(Math.max(1, ...series.flatMap(({ values }) => values)));
  const bottom = HEIGHT - BOTTOM;
  const yOf = (value: number) => round(bottom - (Math.max(0, value) / top) * (bottom - TOP));
  const step = (WIDTH - START) / Math.max(1, labels.length);
  const middleOf = (index: number) => round(START + step * (index + 0.5));
  return {
    ticks: [0, top / 2, top].map((value) => ({ value, y: yOf(value) })),
    labels: shownLabels(labels).map((index) => ({
      text: labels[index]!,
      x: middleOf(index),
      anchor:
        index === 0 && labels.length > 4
          ? 'start'
          : index === labels.length - 1 && labels.length > 4
            ? 'end'
            : 'middle',
    })),
    lines: series.map(({ values }) => {
      const points = values.map((value, index) => `${middleOf(index)},${yOf(value)}`);
      const ends = [`${middleOf(Math.max(0, values.length - 1))},${bottom}`, `${middleOf(0)},${bottom}`];
      return { points: points.join(' '), area: [...points, ...ends].join(' ') };
    }),
    bars: series.flatMap(({ values }, number) => {
      const width = (step * 0.7) / series.length;
      return values.map((value, index) => ({
        series: number,
        x: round(START + step * (index + 0.15) + width * number),
        y: yOf(value),
        width: round(Math.max(1, width)),
        height: round(bottom - yOf(value)),
      }));
    }),
  };
}

const round = (value: number) => Math.round(value * 10) / 10;

/** The next of 2, 4, 10, 20, 40, 100, …, so that half of it is whole as well. */
function niceMax(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return Math.max(2, ([2, 4, 6, 10].find((factor) => factor * power >= value) ?? 20) * power);
}

const LABELS_MAX = 5;

function shownLabels(labels: readonly string[]): number[] {
  if (labels.length <= LABELS_MAX) return labels.map((_, index) => index);
  const every = (labels.length - 1) / (LABELS_MAX - 1);
  return Array.from({ length: LABELS_MAX }, (_, index) => Math.round(index * every));
}
