/**
 * Reports the state of the machine and of the open work, so that an agent can keep watch without
 * running commands. It only reports figures; limits and advice are left to the agent.
 */
import type { MachineState } from '../../ports/reading/machine.js';
import { defineTool } from '../core/define-tool.js';
import type { OpenWork } from '../core/tool.js';

export const systemStatus = defineTool({
  name: 'system_status',
  kind: 'pure',
  isVolatile: true,
  description:
    'Reports free memory, free disk space and load of this machine, and how much work is open in this workspace and since when.',
  args: {},
  run(_, { machine, openWork }) {
    return { kind: 'text', text: [...machineLines(machine.look()), ...workLines(openWork())].join('\n') };
  },
});

function machineLines({ system, processors, upMs, load, memory, disk, process }: MachineState): string[] {
  const loads = load?.map((value) => value.toFixed(2)).join(', ');
  return [
    `Machine: ${system}, ${processors} processors, up ${durationText(upMs)}`,
    ...(loads === undefined ? [] : [`Load over 1, 5 and 15 minutes: ${loads}`]),
    `Memory: ${roomText(memory)}`,
    disk === undefined ? 'Disk of the workspace: unknown' : `Disk of the workspace: ${roomText(disk)}`,
    `This process: ${gigabytes(process.memoryBytes)} of memory, up ${durationText(process.upMs)}`,
  ];
}

function workLines({ pending, active, waiting, requests, oldest }: OpenWork): string[] {
  const since = oldest === undefined ? '' : `; the oldest is ${oldest.task}, created ${oldest.created}`;
  return [
    `Open tasks: ${pending} pending, ${active} active, ${waiting} waiting${since}`,
    `Requests that wait for a person: ${requests}`,
  ];
}

function roomText({ freeBytes, totalBytes }: { freeBytes: number; totalBytes: number }): string {
  const share = totalBytes > 0 ? Math.round((freeBytes / totalBytes) * 100) : 0;
  return `${gigabytes(freeBytes)} of ${gigabytes(totalBytes)} free (${share} %)`;
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(2)} GB`;
}

function durationText(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
