/** Stacked bars by day, drawn by uPlot on a canvas. */
import uPlot from 'uplot';
import type { Costs } from '../../src/web/base/contract.ts';
import { money } from '../text.ts';

const HEIGHT = 230;
/** The tokens of the colours, in the order of the legend. */
const TONES = ['accent', 'check', 'working', 'you', 'done', 'outside', 'waiting'];

export function drawDays(parent: HTMLElement, costs: Costs): { close(): void } {
  const style = getComputedStyle(parent);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const tones = costs.keys.map((_, i) => colour(TONES[i % TONES.length]!));
  const times = costs.days.map(({ day }) => Date.parse(`${day}T12:00:00Z`) / 1000);
  const sums = costs.days.map(({ values }) => stacked(values));
  const axis = {
    stroke: colour('ink-3'),
    font: `11px ${style.fontFamily}`,
    grid: { show: false },
    ticks: { show: false },
  };
  const bars = uPlot.paths.bars!({ size: [0.6, 60] });
  // The highest layer is drawn first, so that each lower one covers the rest of it.
  const layers = costs.keys.map((_, i) => i).reverse();
  const chart = new uPlot(
    {
      width: parent.clientWidth,
      height: HEIGHT,
      cursor: { show: false },
      legend: { show: false },
      scales: {
        x: { time: true, range: (_, min, max) => [min - 43_200, max + 43_200] },
        y: { range: (_, __, max) => [0, max * 1.1 || 1] },
      },
      axes: [
        { ...axis, values: (_, all) => all.map(dayText), splits: (plot) => labelled(times, plot.width) },
        {
          ...axis,
          values: (_, all) => all.map((value) => money(value)),
          size: 76,
          grid: { stroke: colour('line'), width: 1 },
        },
      ],
      series: [
        {},
        ...layers.map((i) => ({
          fill: tones[i]!,
          stroke: colour('surface'),
          width: 1,
          paths: bars,
          points: { show: false },
        })),
      ],
    },
    [times, ...layers.map((i) => sums.map((values) => values[i] ?? 0))],
    parent,
  );
  const look = new ResizeObserver(() => chart.setSize({ width: parent.clientWidth, height: HEIGHT }));
  look.observe(parent);
  return {
    close() {
      look.disconnect();
      chart.destroy();
    },
  };
}

const LABEL_PX = 52;
const AXIS_PX = 90;

/** At most as many labels as there is room for. */
function labelled(times: number[], width: number): number[] {
  const each = Math.ceil((times.length * LABEL_PX) / Math.max(LABEL_PX, width - AXIS_PX));
  return times.filter((_, i) => (times.length - 1 - i) % each === 0);
}

/** Each value with everything below it. */
function stacked(values: readonly number[]): number[] {
  let sum = 0;
  return values.map((value) => (sum += value));
}

function dayText(seconds: number): string {
  return new Date(seconds * 1000).toLocaleDateString('en', { day: 'numeric', month: 'short', timeZone: 'UTC' });
}
