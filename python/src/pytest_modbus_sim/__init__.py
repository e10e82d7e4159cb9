"""A simulated Modbus server for tests: the fixture `modbus_sim`, and `Simulator` for fixtures of your own."""

from .simulator import Device, Exchange, Fault, Line, Report, Simulator, SimulatorError

__all__ = ["Device", "Exchange", "Fault", "Line", "Report", "Simulator", "SimulatorError"]
